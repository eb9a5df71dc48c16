r"""Properties files as `java.util.Properties` reads them (its documentation has most of these cases)."""

import shutil
import subprocess

import pytest
from client_telemetry.compatibility.java_properties import UnreadableProperties, parse

CASES = r"""# a comment \
Truth = Beauty
 Truth2:Beauty2
Truth3                  :Beauty3
fruits                  apple, banana, pear, \
                        cantaloupe, watermelon, \
                        kiwi, mango
cheeses
! another
a\ b\:c\=d = e=f:g
path=C\:\\kafka\\
unicode=\u00e4\u0062
tab=a\tb\qc
empty=
=no key
last=1
last=2
continued\
  Key=x
   # indented comment
url=SASL_SSL://:9093
ends=in\
"""


def test_it_is_what_java_reads(tmp_path):
    settings = {each.key: each.value for each in parse(CASES)}
    assert settings["fruits"] == "apple, banana, pear, cantaloupe, watermelon, kiwi, mango"
    assert settings["a b:c=d"] == "e=f:g" and settings["path"] == "C:\\kafka\\"
    assert settings["continuedKey"] == "x" and settings["cheeses"] == "" and settings["last"] == "2"
    if not shutil.which("java"):
        pytest.skip("needs Java to compare with")
    (tmp_path / "a.properties").write_text(CASES)
    program = tmp_path / "Read.java"
    program.write_text(
        "import java.util.*; public class Read { public static void main(String[] a) throws Exception {"
        "Properties p = new Properties(); p.load(new java.io.FileInputStream(a[0]));"
        'for (String k : new TreeMap<>(Map.copyOf(p)).keySet().toArray(new String[0])) System.out.print(k + "\\0" + p.get(k) + "\\1"); } }'
    )
    done = subprocess.run(
        ["java", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", program, tmp_path / "a.properties"],
        capture_output=True,
        check=True,
    )
    by_java = dict(each.split("\0") for each in done.stdout.decode().split("\1") if each)
    assert settings == by_java


def test_lines_are_those_on_which_settings_begin():
    assert [each.line for each in parse("a=1\r\n#\rb=1,\\\n2\n\nc=3")] == [1, 3, 6]


def test_an_escape_that_java_refuses_is_refused_with_its_line():
    with pytest.raises(UnreadableProperties, match=r"line 2: .*four hex digits"):
        parse("a=1\npath=C:\\users\n")
    assert parse(r"path=C:\\users")[0].value == r"C:\users"
