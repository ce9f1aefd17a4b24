"""Builds the package: a PEP 517 and PEP 660 backend for this one project, in plain Python.

A wheel of pure Python is a zip file with the sources and three files of metadata; there is nothing to compile and
nothing to configure. The same sources give the same bytes: names are sorted and times are fixed (SOURCE_DATE_EPOCH, if
set).

Front ends call these functions with the project's folder as the current directory.
"""

import ast
import base64
import configparser
import gzip
import hashlib
import io
import os
import re
import tarfile
import time
import zipfile
from pathlib import Path

_PACKAGE = "memory_spine"
_EARLIEST_ZIP_TIME = 315532800  # zip files know no time before 1980


def _project():
    """The [project] table, with its version."""
    reader = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    reader.read("pyproject.toml", encoding="utf-8")
    project = {name: ast.literal_eval(value) for name, value in reader["project"].items()}
    source = Path(_PACKAGE, "_version.py").read_text(encoding="utf-8")
    project["version"] = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE).group(1)
    return project


def _metadata(project):
    lines = [
        "Metadata-Version: 2.1",
        "Name: " + project["name"],
        "Version: " + project["version"],
        "Summary: " + project["description"],
        "Requires-Python: " + project["requires-python"],
        "License: " + project["license"],
        "License-File: LICENSE",
        *("Classifier: " + classifier for classifier in project["classifiers"]),
        "Description-Content-Type: text/markdown",
        "",
        Path(project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines).encode("utf-8")


def _stem(project):
    return "{}-{}".format(project["name"].replace("-", "_"), project["version"])


def _sources():
    """The files of the package, by their names in it."""
    paths = (path for path in Path(_PACKAGE).rglob("*") if path.suffix == ".py" or path.name == "py.typed")
    return {path.as_posix(): path.read_bytes() for path in sorted(paths)}


def _epoch():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), _EARLIEST_ZIP_TIME)


def _license():
    """Of the project: it is two folders up in a clone, and beside this project in a source distribution."""
    return next(path for path in (Path("LICENSE"), Path("../../LICENSE")) if path.exists()).read_bytes()


def _entry_points():
    reader = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    reader.read("pyproject.toml", encoding="utf-8")
    scripts = [f"{name} = {ast.literal_eval(value)}" for name, value in reader["project.scripts"].items()]
    return "\n".join(["[console_scripts]", *scripts, ""]).encode("utf-8")


def _write_wheel(folder, project, files):
    info = _stem(project) + ".dist-info"
    files = dict(files)
    files[info + "/LICENSE"] = _license()
    files[info + "/entry_points.txt"] = _entry_points()
    files[info + "/METADATA"] = _metadata(project)
    files[info + "/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: memory-spine\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")
        record.append(f"{name},sha256={digest},{len(data)}\n")
    files[info + "/RECORD"] = "".join(record + [info + "/RECORD,,\n"]).encode("utf-8")

    name = _stem(project) + "-py3-none-any.whl"
    when = time.gmtime(_epoch())[:6]
    with zipfile.ZipFile(Path(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, _project(), _sources())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that only points here."""
    return _write_wheel(wheel_directory, _project(), {"_memory_spine.pth": (os.getcwd() + "\n").encode("utf-8")})


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    files = _sources()
    for path in ("pyproject.toml", "README.md", "build_backend/backend.py"):
        files[path] = Path(path).read_bytes()
    files["PKG-INFO"] = _metadata(project)
    files["LICENSE"] = _license()

    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(_stem(project) + "/" + path)
            entry.size = len(data)
            entry.mtime = _epoch()
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(data))
    name = _stem(project) + ".tar.gz"
    Path(sdist_directory, name).write_bytes(gzip.compress(raw.getvalue(), mtime=_epoch()))
    return name
