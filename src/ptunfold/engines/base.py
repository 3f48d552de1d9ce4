"""An engine delivers distances: blocks of sources for all of them, and rows from single sources."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import DTypeLike

from ptunfold.geodesics.arrangement import Arrangement, arrange
from ptunfold.geodesics.distances import OneWayRows, fold_directions
from ptunfold.geodesics.rows import Blocks, MeanRows, Rows
from ptunfold.geodesics.squares import Squares
from ptunfold.needs import Needs
from ptunfold.threads import Run
from ptunfold.types import Connection, FloatArray, IntArray, Settings


class Engine:
    """The threads of this process, and its memory.

    Other engines do some of it elsewhere, and leave the rest as it is here.

    Attributes
    ----------
    name : str
        What users call it.
    most_full : int
        With more points, all distances take so long that landmarks are taken by default.
    is_stored : bool
        Whether all distances go to disk.
    """

    name = "threads"
    most_full = 20_000
    is_stored = False

    def geometry(self, points: FloatArray, settings: Settings) -> Any:
        """Prepare frames of points; None if threads do them best."""
        return None

    def arrange(self, connection: Connection, nodes: IntArray) -> Arrangement:
        """Take a component out of a connection, as `blocks` wants it."""
        return arrange(connection, nodes)

    def blocks(self, connection: Connection, position: IntArray) -> Blocks:
        """Prepare one-way distances in an arranged component, block by block.

        ``position`` (n_rows,) is the node that each row and column stands for, ascending.
        """
        return OneWayRows(connection, position)

    def rows(self, connection: Connection) -> Rows:
        """Prepare distances from single sources in a connected graph."""
        return MeanRows(connection)

    def squares(
        self, connection: Connection, position: IntArray, dtype: DTypeLike, run: Run
    ) -> Squares:
        """Estimate all squared distances in an arranged component, and keep them."""
        return fold_directions(self.blocks(connection, position), dtype, run)

    def bytes_of_all(self, needs: Needs) -> float:
        """Tell how much memory a fit by all distances needs here."""
        return needs.all_distances()

    def check_room(self, needs: Needs, n_landmarks: int | None) -> None:
        """Refuse a fit that does not fit where this engine works, beside the memory here."""

    def close(self) -> None:
        """Let everything go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
