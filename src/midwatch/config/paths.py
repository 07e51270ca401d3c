"""Where a project's jobs live."""

import os
import stat

from midwatch.core.errors import RefusedError, UsageError
from midwatch.shim import drop_box
from midwatch.system.atomic_files import read_plain


def project_root(start: str) -> str:
    """The nearest ancestor with midwatch.toml or .git (a worktree's .git is a file), else the directory itself."""
    current = os.path.realpath(start)
    while True:
        for mark in (f"{current}/midwatch.toml", f"{current}/.git"):
            if os.path.exists(mark) and not is_planted(mark):
                return current
        parent = os.path.dirname(current)
        if parent == current:
            return os.path.realpath(start)
        current = parent


def main_worktree(start: str) -> str:
    """The project; from within one of its git worktrees its main tree, where all of its agents find the same files.

    Tree and main tree must name each other, as git has it: neither can make itself part of a project that knows
    nothing of it, and read its mail.
    """
    root = project_root(start)
    common, _, name = _read_git_path(f"{root}/.git", "gitdir:").rpartition("/worktrees/")
    main = os.path.realpath(os.path.dirname(common))
    known = name and os.path.basename(common) == ".git" and _find_worktree(main, name) == root
    return main if known else root


def mail_directories(start: str, given: str | None = None) -> list[str]:
    """The state directories of a project's main tree and of all its git worktrees: their agents share one mail."""
    main = main_worktree(start)
    trees = [main]
    try:
        found = [_find_worktree(main, name) for name in sorted(os.listdir(f"{main}/.git/worktrees"))]
        trees += [tree for tree in found if tree and main_worktree(tree) == main]
    except OSError:
        pass  # no git
    return list(dict.fromkeys(sentinel_directory(given, tree) for tree in trees))


def _find_worktree(main: str, name: str) -> str:
    """Where a main tree says that one of its worktrees is; empty where there is none."""
    tree, _, git = _read_git_path(f"{main}/.git/worktrees/{name}/gitdir").rpartition("/")
    return os.path.realpath(tree) if git == ".git" and os.path.isdir(tree) else ""


def _read_git_path(file: str, word: str = "") -> str:
    """The path that stands in a file of git; empty where there is none."""
    try:
        text = read_plain(file, 4096, follow=True).decode("utf-8", "surrogateescape")
    except OSError:  # a directory: this is a main tree; or a worktree that was just removed
        return ""
    path = text.removeprefix(word).strip()
    return "" if "\0" in path else os.path.normpath(os.path.join(os.path.dirname(file), path))


def state_root() -> str:
    return _user_directory("XDG_STATE_HOME", "~/.local/state")


def list_projects() -> list[str]:
    """The directories in which projects may have jobs."""
    root = state_root()
    try:
        return sorted(path for entry in os.listdir(root) if os.path.isdir(path := f"{root}/{entry}"))
    except FileNotFoundError:
        return []


def hook_spool() -> str:
    """Where the hooks of agents leave their events; for all projects, as agents' settings are."""
    return f"{state_root()}/hooks"


def status_spool() -> str:
    """Where is noted what the programs in panes report of themselves (OSC 7501)."""
    return f"{state_root()}/status"


def configuration_directory() -> str:
    return _user_directory("XDG_CONFIG_HOME", "~/.config")


def _user_directory(variable: str, usual: str) -> str:
    """Our directory in one of the user's. A relative path in the variable counts as none, as XDG has it."""
    given = os.environ.get(variable, "")
    return f"{given if os.path.isabs(given) else os.path.abspath(os.path.expanduser(usual))}/midwatch"


def sentinel_directory(given: str | None = None, start: str = "") -> str:
    """The sentinel directory meant: --dir, else $MIDWATCH_HOME, else that of the project that one is in."""
    if given or (given := os.environ.get("MIDWATCH_HOME")):
        return _check_job_directory(os.path.abspath(given))
    root = project_root(start or current_directory())
    import hashlib  # noqa: PLC0415  # only where the project's own directory is meant

    digest = hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{state_root()}/{os.path.basename(root) or 'root'}-{digest}"


def _check_job_directory(path: str) -> str:
    """The same directory; UsageError for a drop box: nothing in it may be taken for the files of a job."""
    name = os.path.basename(path)
    state = drop_box.find_state_directory(path, name)
    if state != path and os.path.isdir(f"{state}/spool"):
        raise UsageError(f"{path} is the drop box of {name}; its jobs are in {state}")
    return path


def current_directory() -> str:
    """The current directory; RefusedError where it was removed meanwhile."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise RefusedError("the current directory was removed; change to one that is there") from None


def prepare_directory(path: str) -> None:
    """Make a directory ready for our files, or say why it cannot be."""
    try:
        make_private(f"{path}/spool")
        make_private(f"{path}/archive")
    except OSError as error:
        raise RefusedError(format_unwritable(path, error)) from error
    if why := find_problem(path):
        raise RefusedError(why)


def find_problem(path: str) -> str:
    """What in a directory keeps a job from being started there; empty where nothing does."""
    for part in ("spool", "archive"):
        if os.path.islink(f"{path}/{part}"):
            return f"{path}/{part} is a symbolic link; remove it and try again"
    errors = f"{path}/spool/shim.err"
    if os.path.lexists(errors) and (os.path.islink(errors) or not os.path.isfile(errors)):
        return f"{errors} is no plain file; remove it and try again"
    if others := find_sharing(path):
        return f"{others}; use a directory of your own, or `chmod go-w {path}`"
    return ""


def format_unwritable(path: str, error: OSError) -> str:
    return f"cannot write to {path}: {error.strerror}; choose another with --dir"


def predict_problem(path: str) -> str:
    """Why a directory could not be made ready, as far as can be told without making it; empty where it could.

    Files are made and taken away wherever a job would make some: permissions are not all that can be in the way.
    """
    if why := find_problem(path):
        return why
    place = path
    while not os.path.lexists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    try:
        for each in (place, f"{path}/spool", f"{path}/archive"):
            if os.path.lexists(each):
                _try_writing(each)
    except OSError as error:
        return format_unwritable(path, error)
    return ""


def _try_writing(directory: str) -> None:
    made = f"{directory}/.trial-{os.urandom(8).hex()}"
    os.mkdir(made, 0o700)
    try:
        with open(f"{made}/file", "wb") as file:
            file.write(bytes(4096))
    finally:
        if os.path.exists(f"{made}/file"):
            os.unlink(f"{made}/file")
        os.rmdir(made)


def make_private(path: str) -> None:
    """Make a directory and those above it that are missing, for nobody else's eyes."""
    if not os.path.isdir(path):
        make_private(os.path.dirname(path))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise


def is_planted(path: str) -> bool:
    """Whether a file is another user's, in a directory such as /tmp, in which everybody can make files.

    There it says nothing of what lies below: else whoever is first could make the rules for all who work there.
    """
    try:
        found, above = os.lstat(path), os.stat(os.path.dirname(path) or ".")
    except (OSError, ValueError):
        return False
    everybody = stat.S_ISVTX | stat.S_IWOTH
    return found.st_uid not in (os.geteuid(), 0) and above.st_mode & everybody == everybody


def find_sharing(path: str) -> str:
    """Why nothing found in a directory may be trusted to act upon; empty when it is ours alone."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    me = os.geteuid()
    if os.path.islink(path) and found.st_uid not in (me, 0):
        return f"{path} is a symbolic link that another user made"
    found = os.stat(path)
    if found.st_uid not in (me, 0):
        return f"{path} belongs to another user"
    return f"others may write to {path}" if found.st_mode & 0o022 else ""
