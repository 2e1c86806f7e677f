"""Databases of studies that nobody ran: the schema comes from the program under test."""
import json
import os
import sqlite3
import subprocess

ANSWER = os.path.join(os.environ.get("SELVAGE_BUILD", "build"), "tests", "support_answer")

CELL = ("fabric", "faults", "fault_kind", "fault_unit", "fault_amount", "seed", "engine", "vls",
        "options", "traffic", "profile", "message", "load", "what")
SPENT = ("route_seconds", "verify_seconds", "metrics_seconds", "sim_seconds")


def schema():
    return subprocess.run([ANSWER, "schema"], stdout=subprocess.PIPE, check=True).stdout.decode()


def faults(kind, amount=0, unit="%", rest=""):
    """The columns faults, fault_kind, fault_unit, fault_amount."""
    if kind == "none":
        return {"faults": "none", "fault_kind": "none", "fault_unit": "%", "fault_amount": 0}
    name = {"link": "links", "switch": "switches"}.get(kind, kind)
    words = "%s %g%s%s" % (name, amount, "%" if unit == "%" else "", " " + rest if rest else "")
    return {"faults": words, "fault_kind": kind, "fault_unit": unit, "fault_amount": amount}


class Database:
    """A database with cells that are added one by one."""

    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(path)
        self.db.executescript(schema())

    def insert(self, table, row):
        names = sorted(row)
        return self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            table, ", ".join(names), ", ".join("?" * len(names))),
            [row[name] for name in names]).lastrowid

    def fabric(self, name, switches=10, terminals=100, links=200):
        self.insert("fabric", {"name": name, "switches": switches, "terminals": terminals,
                               "links": links})

    def cell(self, fabric, engine, level=None, seed=0, status="ok", words="", result=True, **values):
        """A cell with its result. values: columns of cell, result and spent."""
        cell = {"fabric": fabric, "seed": seed, "engine": engine, "vls": 0, "options": "",
                "traffic": "", "profile": "", "message": 0, "load": 0, "what": "metrics"}
        cell.update(level or faults("none"))
        for name in CELL:
            if name in values:
                cell[name] = values.pop(name)
        cell["key"] = "|".join(str(cell[name]) for name in CELL)
        number = self.insert("cell", cell)
        spent = {name: values.pop(name) for name in SPENT if name in values}
        if result:
            self.insert("result", dict(values, cell=number, status=status, words=words))
            self.insert("spent", dict(spent, cell=number, seconds=1, bytes=1, machine="m",
                                      version="v", finished="f"))
        return number

    def done(self):
        self.db.commit()
        return self


def run(path, name, form="json", **options):
    """What the program answers: code, standard output, standard error."""
    done = subprocess.run([ANSWER, path, name, form] + ["%s=%s" % pair for pair in options.items()],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Table:
    def __init__(self, found):
        self.name, self.title, self.says = found["name"], found["title"], found["says"]
        self.columns = [column["name"] for column in found["columns"]]
        self.kinds = [column["kind"] for column in found["columns"]]
        self.notes = found["notes"]
        self.values = found["rows"]
        self.rows = [dict(zip(self.columns, row)) for row in found["rows"]]


def answer(path, name, **options):
    """The tables of an answer by name."""
    code, out, err = run(path, name, **options)
    if code != 0:
        raise AssertionError("answer %s %s: exit %d: %s" % (path, name, code, err))
    return {table["name"]: Table(table) for table in json.loads(out)["tables"]}
