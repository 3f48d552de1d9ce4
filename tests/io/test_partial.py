"""Outputs that grow: what was marked is there, whatever happens, and nothing else is."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptunfold.io import partial as module
from ptunfold.io.outputs import Outputs
from ptunfold.io.partial import Partial, fingerprint

ABOUT = {"model": "m", "input": "i", "settings": [1, "a"], "ptunfold": "1"}


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def stop(target, error=KeyboardInterrupt, about=ABOUT, **options):
    """Write something, mark it, write more, and be interrupted."""

    def work():
        with Partial(target, about, **options) as part:
            part.write(b"one ")
            part.mark({"rows": 1})
            part.write(b"two ")
            part.mark({"rows": 2})
            part.write(b"three")
            raise error

    with pytest.raises(error):
        work()


def finish(target, about=ABOUT, force=False, content=b"", **options):
    with (
        Partial(target, about, force=force, **options) as part,
        Outputs(target, force=force) as out,
    ):
        part.write(content)
        part.finish()
        out.take_over(target, part.path)


def test_it_goes_on_where_it_was_marked(tmp_path):
    target = tmp_path / "a.csv"
    stop(target)
    assert len(names(tmp_path)) == 2
    assert all(name.startswith(".ptunfold-") for name in names(tmp_path))
    stop(target, resume=True)
    part = Partial(target, ABOUT, resume=True)
    assert part.state == {"rows": 2}
    assert part.path.read_bytes() == b"one two one two "
    part.__exit__(None, KeyboardInterrupt(), None)
    finish(target, resume=True, content=b"and so on")
    assert target.read_bytes() == b"one two one two and so on"
    assert names(tmp_path) == ["a.csv"]


def test_what_was_not_marked_is_forgotten(tmp_path):
    stop(tmp_path / "a.csv")
    finish(tmp_path / "a.csv", resume=True)
    assert (tmp_path / "a.csv").read_bytes() == b"one two "


def test_what_is_marked_is_on_the_disk(tmp_path, monkeypatch):
    """After a loss of power too: the content first, and then the journal that tells of it."""
    synced = []

    def sync(handle, _sync=os.fsync):
        _sync(handle)
        synced.append((os.fstat(handle).st_ino, os.fstat(handle).st_size))

    monkeypatch.setattr(os, "fsync", sync)
    with Partial(tmp_path / "a.csv", ABOUT) as part:
        part.write(b"one")
        part.mark({"rows": 1})
        assert synced[0] == (part.path.stat().st_ino, 3)
        assert len(synced) == 2


def test_nothing_to_go_on_with_is_a_start(tmp_path):
    finish(tmp_path / "a.csv", resume=True, content=b"all")
    assert (tmp_path / "a.csv").read_bytes() == b"all"
    assert names(tmp_path) == ["a.csv"]


def test_the_permissions_are_those_of_any_file(tmp_path):
    finish(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "b.csv").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError, ValueError, IndexError])
def test_what_is_kept(error, tmp_path):
    stop(tmp_path / "a.csv", error)
    is_kept = error in (KeyboardInterrupt, OSError, MemoryError)
    assert bool(names(tmp_path)) is is_kept


def test_what_was_never_marked_is_not_kept(tmp_path):
    part = Partial(tmp_path / "a.csv", ABOUT)
    part.write(b"one")
    part.__exit__(None, KeyboardInterrupt(), None)
    assert names(tmp_path) == []
    stop(tmp_path / "a.csv", about=None)  # as what comes from a pipe
    assert names(tmp_path) == []


def test_work_that_was_stopped_is_not_lost_by_mistake(tmp_path):
    target = tmp_path / "a.csv"
    stop(target)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(
        ValueError, match=r"stopped when 2 rows were done; --resume goes on with it"
    ):
        Partial(target, ABOUT)
    for key, what in (
        ("model", "another model"),
        ("input", "another input"),
        ("settings", "other options"),
        ("ptunfold", "another version"),
    ):
        with pytest.raises(ValueError, match=rf"that was stopped is of {what}.*; pass what it was"):
            Partial(target, {**ABOUT, key: "other"}, resume=True)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before
    finish(target, force=True, content=b"anew")
    assert target.read_bytes() == b"anew"
    assert names(tmp_path) == ["a.csv"]


def test_damage_is_found(tmp_path):
    target = tmp_path / "a.csv"
    for ending, content in (
        (".part", b"one Two three"),
        (".part", b"o"),
        (".json", b""),
        (".json", b"[1]"),
        (".json", b'{"version": 1}'),
    ):
        stop(target, force=True)
        file, *_ = (file for file in tmp_path.iterdir() if file.suffix == ending)
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is damaged; --force without --resume starts anew"):
            Partial(target, ABOUT, resume=True)
    file.write_text(
        json.dumps({"version": 9, "about": ABOUT, "size": 1, "checksum": 1, "state": {"rows": 1}})
    )
    with pytest.raises(ValueError, match="of another version of ptunfold"):
        Partial(target, ABOUT, resume=True)
    finish(target, force=True, content=b"anew")
    assert target.read_bytes() == b"anew"


def test_a_full_disk(tmp_path, monkeypatch):
    target = tmp_path / "a.csv"

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    part = Partial(target, ABOUT)
    part.write(b"one")
    part.mark({"rows": 1})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"a\.csv could not be written \(No space left") as error:
        part.mark({"rows": 2})
    part.__exit__(None, error.value, None)
    monkeypatch.undo()
    with Partial(target, ABOUT, resume=True) as part:
        assert part.state == {"rows": 1}


def test_one_at_a_time(tmp_path):
    target = tmp_path / "a.csv"
    with (
        Partial(target, ABOUT),
        pytest.raises(ValueError, match="is being written by another process; wait for it"),
    ):
        Partial(target, ABOUT, resume=True, force=True)
    Partial(target, ABOUT).__exit__(None, None, None)
    with Partial(tmp_path / "b.csv", ABOUT), Partial(tmp_path / "c.csv", ABOUT):
        pass


def test_the_head_comes_last(tmp_path):
    target = tmp_path / "a.npy"
    part = Partial(target, ABOUT, n_head=4)
    part.write(b"rows")
    part.mark({"rows": 4})
    part.finish(b"head")
    part.__exit__(None, OSError("no name could be given"), None)
    with Partial(target, ABOUT, n_head=4, resume=True) as part, Outputs(target) as outputs:
        assert part.state == {"rows": 4}
        part.write(b" more")
        part.finish(b"HEAD")
        outputs.take_over(target, part.path)
    assert target.read_bytes() == b"HEADrows more"


def test_what_is_whole_is_kept_if_it_cannot_get_its_name(tmp_path):
    target = tmp_path / "a.csv"

    def work():
        with Partial(target, ABOUT) as part, Outputs(target) as outputs:
            part.write(b"all")
            part.mark({"rows": 1})
            part.finish()
            outputs.take_over(target, part.path)
            target.write_text("of someone else")

    with pytest.raises(ValueError, match="is there already"):
        work()
    assert target.read_text() == "of someone else"
    finish(target, resume=True, force=True)
    assert target.read_bytes() == b"all"


def test_a_name_that_was_given_before_the_end(tmp_path):
    target = tmp_path / "a.csv"
    stop(target)
    part, *_ = (file for file in tmp_path.iterdir() if file.suffix == ".part")
    os.link(part, target)  # and then the process was killed
    before = target.read_bytes()
    with Partial(target, ABOUT, resume=True, force=True) as again:
        assert again.state is None
        again.write(b"anew")
    assert target.read_bytes() == before


def test_a_process_that_is_killed(tmp_path):
    target = tmp_path / "a.csv"
    code = (
        "import os, signal; from pathlib import Path; from ptunfold.io.partial import Partial\n"
        f"part = Partial(Path({str(target)!r}), {ABOUT!r})\n"
        "part.write(b'one'); part.mark({'rows': 1}); part.write(b'two'); part._file.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=100).returncode != 0
    assert len(names(tmp_path)) == 2
    finish(target, resume=True, content=b" and more")
    assert target.read_bytes() == b"one and more"


def test_systems_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fcntl", None)
    test_it_goes_on_where_it_was_marked(tmp_path)


def test_fingerprints(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(300_000))
    before = fingerprint(path)
    assert fingerprint(path) == before == json.loads(json.dumps(before))
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    for place in (0, 299_999):
        content = bytearray(300_000)
        content[place] = 1
        path.write_bytes(content)
        os.utime(path, ns=times)
        assert fingerprint(path) != before
    path.write_bytes(bytes(300_000))
    os.utime(path, ns=(times[0], times[1] + 1))
    assert fingerprint(path) != before
    assert Path(path).exists()
