"""Files that appear together, or not at all."""

import errno
import os
from pathlib import Path

import pytest

from ptunfold.io.outputs import Outputs


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def write(outputs, path, content="new"):
    with outputs.writing(path) as part:
        part.write_text(content)


def publish(*paths, force=False, content="new", last=None):
    with Outputs(*paths, force=force) as outputs:
        for path in paths:
            write(outputs, path, content)
        if last is not None:
            last()


def fail(error):
    def last():
        raise error

    return last


def test_all_or_none(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    with Outputs(a, None, b) as outputs:
        write(outputs, a)
        assert not a.exists()
        write(outputs, b)
    assert names(tmp_path) == ["a", "b"]
    for error in (ValueError("wrong"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            publish(a, b, force=True, content="newer", last=fail(error))
        assert names(tmp_path) == ["a", "b"]
        assert a.read_text() == "new"


def test_a_full_disk(tmp_path, monkeypatch):
    def full(path, content):
        path.write_bytes(b"half of")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"a could not be written \(No space left.*, so nothing was"):
        publish(tmp_path / "a")
    assert names(tmp_path) == []


def test_a_move_that_fails_takes_the_others_back(tmp_path, monkeypatch):
    a, b, c = (tmp_path / name for name in "abc")
    a.write_text("old")
    move = Outputs._move

    def failing(self, path, part):
        if path == c:
            raise OSError(errno.EIO, "broken")
        move(self, path, part)

    monkeypatch.setattr(Outputs, "_move", failing)
    with pytest.raises(OSError, match="broken"):
        publish(a, b, c, force=True)
    assert names(tmp_path) == ["a"]
    assert a.read_text() == "old"


def test_a_file_that_came_in_between_stays(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    with pytest.raises(ValueError, match="b is there already"):
        publish(a, b, last=lambda: b.write_text("of someone else"))
    assert names(tmp_path) == ["b"]
    assert b.read_text() == "of someone else"


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    for path, message in (
        (tmp_path / "there", "is there already"),
        (tmp_path / "no" / "a", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "link", "is there already"),
        (tmp_path / ("a" * 300), "File name too long"),
    ):
        with pytest.raises((ValueError, OSError), match=message):
            Outputs(path)
    for paths in (("a", "a"), ("there", "link")):
        with pytest.raises(ValueError, match="are the same file; choose two names"):
            Outputs(*(tmp_path / path for path in paths), force=True)
    with pytest.raises(ValueError, match="are the same file"):
        Outputs(tmp_path / "a", tmp_path / "." / "x" / ".." / "a")
    assert names(tmp_path) == ["link", "there"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there are no devices here")
def test_devices_are_not_replaced():
    with pytest.raises(ValueError, match="is a device or a pipe; pass the name of a file"):
        Outputs(Path("/dev/null"), force=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no such folder here")
def test_folders_that_take_no_files():
    with pytest.raises(ValueError, match=r"cannot be written \(.*\); choose another place"):
        Outputs(Path("/proc/a.csv"))


def test_what_a_link_points_to_is_replaced(tmp_path):
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("old")
    link.symlink_to(there)
    publish(link, force=True)
    assert link.is_symlink()
    assert there.read_text() == "new"


def test_where_there_are_no_second_names(tmp_path, monkeypatch):
    def no_links(*args, **options):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    test_all_or_none(tmp_path)
    publish(tmp_path / "c")
    assert (tmp_path / "c").read_text() == "new"
