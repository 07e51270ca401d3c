"""Virtual environments, read without running anything in them: what they name and whether it is there.

Paths are compared as they really are: a link that leads to an environment is another way to it, not another place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from midwatch.preflight.codec import virtualenv as codec
from midwatch.preflight.virtualenv_model import (
    ELSEWHERE,
    GONE,
    OTHER,
    OWN,
    EnvironmentOrigin,
    EnvironmentScript,
    InstalledPackage,
    Interpreter,
    VirtualEnvironment,
)
from midwatch.system.atomic_files import read_plain

LARGEST, LARGEST_RECORD = 1 << 18, 16 << 20
"""Bytes of a file that are read; those that matter are far smaller."""
NAMES = (".venv", "venv")
MODULES = (".py", ".so", ".pyc")


def find_environments(project: str) -> list[str]:
    """The environments of a project: `.venv`, else `venv`; and the activated one where that lies inside it."""
    found = [f"{project}/.venv"] if os.path.isdir(f"{project}/.venv") or os.path.islink(f"{project}/.venv") else []
    if not found and is_environment(f"{project}/venv"):
        found = [f"{project}/venv"]
    active = os.environ.get("VIRTUAL_ENV", "")
    inside = os.path.realpath(active).startswith(os.path.realpath(project) + "/") if active else False
    if inside and is_environment(active) and not any(is_same_path(active, path) for path in found):
        found.append(os.path.abspath(active))
    return found


def is_environment(path: str) -> bool:
    return os.path.isfile(f"{path}/pyvenv.cfg") or os.path.lexists(f"{path}/bin/python")


def is_same_path(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def find_origin(project: str) -> EnvironmentOrigin:
    """The files by which a project tells how its environment is made."""
    try:
        names = tuple(sorted(name for name in os.listdir(project) if os.path.isfile(f"{project}/{name}")))
    except OSError:
        return EnvironmentOrigin((), "", {})
    wanted = [name for name in names if name.startswith("requirements") and name.endswith(".txt")]
    return EnvironmentOrigin(
        names, _read_text(f"{project}/pyproject.toml"), {name: _read_text(f"{project}/{name}") for name in wanted}
    )


def _read_text(path: str) -> str:
    try:
        return read_plain(path, LARGEST, follow=True).decode("utf-8", "replace")
    except OSError:
        return ""


def read_environment(path: str) -> VirtualEnvironment:
    if not os.path.isdir(path):
        leads = f"{path} leads to {os.path.realpath(path)}, which is not there" if os.path.islink(path) else ""
        return VirtualEnvironment(path, trouble=leads or f"there is no directory {path}")
    return _EnvironmentReader(path).read()


class _EnvironmentReader:
    """One reading; what cannot be read is collected on the way."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.bin = f"{path}/bin"
        self.unread: list[str] = []

    def read(self) -> VirtualEnvironment:
        text = self._text(f"{self.path}/pyvenv.cfg")
        conda = os.path.isdir(f"{self.path}/conda-meta")  # its environments have no such file, and need none
        config = codec.parse_config(text or "") if text is not None or conda else None
        interpreter = _read_interpreter(self.bin)
        directories = self._libraries()
        version = interpreter.version or codec.config_version(config or {})
        packages = directories.get(version) or next(iter(directories.values()), "")
        library = _PackageDirectory(self, packages) if packages else None
        shared = (config or {}).get("include-system-site-packages", "").lower() == "true"
        return VirtualEnvironment(
            path=self.path,
            config=config,
            home_there=config is None or not config.get("home") or os.path.isdir(config["home"]),
            interpreter=interpreter,
            libraries=tuple(directories),
            made_at=self._made_at(),
            scripts=tuple(self._scripts(library, shared=shared)),
            packages=tuple(library.packages) if library else (),
            gone=tuple(library.gone) if library else (),
            unread=tuple(self.unread),
        )

    def list(self, path: str) -> list[os.DirEntry[str]]:
        try:
            return sorted(os.scandir(path), key=lambda entry: entry.name)
        except FileNotFoundError:
            return []
        except OSError as error:
            self.unread.append(f"{path} cannot be read: {error.strerror}")
            return []

    def _text(self, path: str) -> str | None:
        """The text of a file, None when it is not there; what cannot be read is empty and noted."""
        try:
            return read_plain(path, LARGEST, follow=True).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            self.unread.append(f"{path} cannot be read: {error.strerror}")
            return ""

    def text(self, path: str) -> str:
        return self._text(path) or ""

    def _libraries(self) -> dict[str, str]:
        """Directories of packages by version; those of threads without a lock have a t at their end."""
        found = {
            codec.parse_version(entry.name): f"{entry.path}/site-packages" for entry in self.list(f"{self.path}/lib")
        }
        return {version: path for version, path in found.items() if version and os.path.isdir(path)}

    def _made_at(self) -> str:
        named = codec.activated_directory(self.text(f"{self.bin}/activate"))
        return named if named and not is_same_path(named, self.path) else ""

    def _scripts(self, library: _PackageDirectory | None, *, shared: bool) -> Iterator[EnvironmentScript]:
        for entry in self.list(self.bin):
            if not os.path.isfile(entry.path) or os.path.realpath(entry.path) == os.path.realpath(f"{self.bin}/python"):
                continue
            text = self.text(entry.path)
            named = codec.script_interpreter(text, self.bin)
            if named is None:
                continue
            module = codec.called_module(text)
            found = library is None or shared or library.has(module, entry.name)
            yield EnvironmentScript(entry.name, named, self._where(named), "" if found else module)

    def _where(self, named: str) -> str:
        if not named.startswith("/") or not os.access(named, os.X_OK) or not os.path.isfile(named):
            return GONE
        if is_same_path(os.path.dirname(named), self.bin):
            return OWN
        home = os.path.dirname(os.path.dirname(named))
        return OTHER if os.path.isfile(f"{home}/pyvenv.cfg") else ELSEWHERE


class _PackageDirectory:
    """A directory of packages: what it records, which modules it has, where else it looks for some."""

    def __init__(self, reader: _EnvironmentReader, path: str) -> None:
        self.path = path
        self.packages: list[InstalledPackage] = []
        self.gone: list[tuple[str, str]] = []
        self._modules = set(sys.stdlib_module_names)
        self._editable: list[str] = []
        for entry in reader.list(path):
            about = codec.parse_package_name(entry.name)
            if about is not None:
                self._record(reader, entry, *about)
            elif entry.name.endswith(".pth"):
                self._follow(codec.parse_search_paths(reader.text(entry.path)), entry.name)
            else:
                self._modules |= _package_modules(entry.name)
                if entry.name.endswith(".py") and "editable" in entry.name:
                    self._redirect(codec.parse_redirects(reader.text(entry.path)), entry.name)

    def _record(self, reader: _EnvironmentReader, entry: os.DirEntry[str], name: str, version: str) -> None:
        wanted = ("METADATA", "RECORD") if entry.name.endswith(".dist-info") else ()
        lacks = tuple(file for file in wanted if not os.path.isfile(f"{entry.path}/{file}"))
        self.packages.append(InstalledPackage(name, version, lacks))
        told = f"{entry.path}/direct_url.json"
        source = codec.editable_directory(reader.text(told)) if os.path.isfile(told) else ""
        if source:
            self._editable.append(entry.path)
            if not os.path.isdir(source):
                self.gone.append((name, source))

    def _follow(self, paths: list[str], who: str) -> None:
        for path in paths:
            place = os.path.join(self.path, path)
            try:
                self._modules.update(*map(_package_modules, os.listdir(place)))
            except OSError:
                if not os.path.exists(place):  # an archive may stand there too
                    self.gone.append((who, place))

    def _redirect(self, redirects: dict[str, str], who: str) -> None:
        for module, place in redirects.items():
            self._modules.add(module.partition(".")[0])
            if not any(os.path.exists(place + ending) for ending in ("", *MODULES)):
                self.gone.append((who, place))

    def has(self, module: str, script: str) -> bool:
        """Whether a module can be found, or belongs to a package that finds its code in a way of its own."""
        if module.partition(".")[0] in self._modules or not module:
            return True
        return any(f"/bin/{script}," in _record_path(path) for path in self._editable)


def _package_modules(name: str) -> set[str]:
    stem, dot, _ = name.partition(".")
    return {stem} if not dot or name.endswith(MODULES) else set()


def _record_path(directory: str) -> str:
    try:
        return read_plain(f"{directory}/RECORD", LARGEST_RECORD, follow=True).decode("utf-8", "replace")
    except OSError:
        return ""


def _read_interpreter(directory: str) -> Interpreter:
    names = [name for name in ("python", "python3") if os.path.lexists(f"{directory}/{name}")]
    if not names:
        return Interpreter(f"{directory}/python", "", "there is no bin/python", "")
    path = f"{directory}/{names[0]}"
    target = os.path.realpath(path)
    trouble = ""
    try:
        os.stat(path)
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            trouble = f"bin/{names[0]} ({target}) is not a program that we may start"
    except FileNotFoundError:
        trouble = f"bin/{names[0]} leads to {target}, which is not there"
    except OSError as error:
        trouble = f"bin/{names[0]} cannot be looked at: {error.strerror}"
    return Interpreter(path, target, trouble, codec.parse_version(os.path.basename(target)))
