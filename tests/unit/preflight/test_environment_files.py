"""Files of environments, in the words of each program that writes them."""

from __future__ import annotations

import json

import pytest

from midwatch.preflight.codec import virtualenv as codec


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("home = /usr/bin\nversion = 3.11.7\n", "3.11"),
        ("home = /usr/bin\nimplementation = CPython\nuv = 0.8.0\nversion_info = 3.13.1\n", "3.13"),
        ("version_info = 3.12.0.final.0\nversion = 3.12.0\n", "3.12"),
        ("version = 3.14.0rc1\n", "3.14"),
        ("home = /usr/bin\nno equals\n", ""),
    ],
    ids=["venv", "uv", "virtualenv", "a candidate", "nobody says"],
)
def test_the_version_that_an_environment_was_made_for(text: str, version: str) -> None:
    assert codec.config_version(codec.parse_config(text)) == version


@pytest.mark.parametrize(
    ("name", "version"),
    [("python3.11", "3.11"), ("pypy3.10", "3.10"), ("python3.13t", "3.13"), ("python3", ""), ("python3.11-config", "")],
)
def test_versions_in_names(name: str, version: str) -> None:
    assert codec.parse_version(name) == version


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ('VIRTUAL_ENV="/a b/.venv"\nexport VIRTUAL_ENV\n', "/a b/.venv"),
        ("VIRTUAL_ENV='/it'\"'\"'s/.venv'\n", "/it's/.venv"),
        ("    export VIRTUAL_ENV=$(cygpath /a/.venv)\nelse\n    export VIRTUAL_ENV=/a/.venv\nfi\n", "/a/.venv"),
        ('VIRTUAL_ENV=\'\'"$(dirname -- "$(dirname -- "$(realpath -- "$SCRIPT_PATH")")")"\'\'\n', ""),
        ("unset VIRTUAL_ENV\nVIRTUAL_ENV_PROMPT=/x\n", ""),
        ('VIRTUAL_ENV="/unclosed\n', ""),
    ],
    ids=["venv", "uv", "Python 3.13", "relocatable", "none", "broken"],
)
def test_the_directory_that_activate_was_written_for(text: str, directory: str) -> None:
    assert codec.activated_directory(text) == directory


@pytest.mark.parametrize(
    ("text", "interpreter"),
    [
        ("#!/a/bin/python -sE\nimport sys\n", "/a/bin/python"),
        ("#! /usr/bin/env python3\n", "/usr/bin/env"),
        ("#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n", "/a b/bin/python"),
        ("#!/bin/sh\n'''exec' /long/bin/python \"$0\" \"$@\"\n' '''\n", "/long/bin/python"),
        (
            "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3' \"$0\" \"$@\"\n' '''\n",
            "/v/bin/python3",
        ),
        ("#!/bin/sh\nexec something\n", "/bin/sh"),
        ("#!\n", ""),
        ("\x7fELF", None),
        ("", None),
    ],
)
def test_the_interpreter_of_a_script(text: str, interpreter: str | None) -> None:
    assert codec.script_interpreter(text, "/v/bin") == interpreter


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import sys\nfrom app.cli import main\nsys.exit(main())\n", "app.cli"),
        ("import re\nimport sys\nfrom app import main\nif 1:\n    sys.exit(main())\n", "app"),
        ("from app import main\nmain()\n", ""),
        ("import sys\nsys.exit(0)\n", ""),
    ],
)
def test_the_module_that_a_console_script_calls(text: str, module: str) -> None:
    assert codec.called_module(text) == module


def test_what_a_path_file_adds() -> None:
    assert codec.parse_search_paths("# note\nimport x; x.y()\nimport\tz\n\n /src \nimportant\n") == [
        "/src",
        "important",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MAPPING: dict[str, str] = {'a': '/src/a'}\n", {"a": "/src/a"}),
        ("MAPPING = {'a': 1, 'b': '/src/b'}\n", {"b": "/src/b"}),
        ("MAPPING = made()\n", {}),
        ("MAPPING = ['a']\n", {}),
        ("F.map_module('a', '/src/a/__init__.py')\n", {"a": "/src/a/__init__.py"}),
        ("this is not Python", {}),
        ("\0", {}),
    ],
)
def test_where_a_finder_looks(text: str, found: dict[str, str]) -> None:
    assert codec.parse_redirects(text) == found


@pytest.mark.parametrize(
    ("about", "directory"),
    [
        ({"url": "file:///a%20b/app", "dir_info": {"editable": True}}, "/a b/app"),
        ({"url": "file:///a/app", "dir_info": {}}, ""),
        ({"url": "file:///a/app-1.0.whl", "archive_info": {}}, ""),
        ({"url": "https://host/app", "dir_info": {"editable": True}}, ""),
        ({"url": 1, "dir_info": {"editable": True}}, ""),
        ([], ""),
    ],
)
def test_the_directory_of_an_editable_install(about: object, directory: str) -> None:
    assert codec.editable_directory(json.dumps(about)) == directory


def test_a_torn_direct_url_tells_nothing() -> None:
    assert codec.editable_directory('{"url": "file:') == ""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("my_app-1.0.dist-info", ("my_app", "1.0")),
        ("my-app-1.0.post1.dist-info", ("my-app", "1.0.post1")),
        ("app-1.0-py3.11.egg-info", ("app", "1.0")),
        ("app.egg-info", ("app", "")),
        ("~pp-1.0.dist-info", None),
        ("app", None),
        (".dist-info", None),
    ],
)
def test_the_package_that_a_directory_records(name: str, found: tuple[str, str] | None) -> None:
    assert codec.parse_package_name(name) == found
