import shutil
import subprocess
from pathlib import Path

import pytest
from client_telemetry.identity.kip190 import NotSanitized, desanitize, jmx_sanitize, sanitize
from hypothesis import given, settings
from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters(exclude_categories=()))
"""Surrogates too, which Python strings can hold alone."""


# Put out by org.apache.kafka.common.utils.Sanitizer of Kafka 4.3.1.
@pytest.mark.parametrize(
    ("name", "sanitized", "jmx"),
    [
        ("a b*c+d/e~f-g_h.iÄ", "a%20b%2Ac%2Bd%2Fe%7Ef-g_h.i%C3%84", '"a b\\*c+d/e~f-g_h.iÄ"'),
        ("orders producer/1", "orders%20producer%2F1", '"orders producer/1"'),
        ("CN=orders, O=Acme", "CN%3Dorders%2C%20O%3DAcme", '"CN=orders, O=Acme"'),
        ("ok-1.2_3 %", "ok-1.2_3%20%25", "ok-1.2_3 %"),
    ],
)
def test_as_kafka(name: str, sanitized: str, jmx: str):
    assert sanitize(name) == sanitized
    assert jmx_sanitize(name) == jmx
    assert desanitize(sanitized) == name


@pytest.mark.parametrize(
    ("name", "sanitized"),
    [
        ("", ""),
        ("\U0001f600", "%F0%9F%98%80"),
        ("\ud83d\ude00", "%F0%9F%98%80"),
        ("\ud800", "%3F"),
        ("a\udc00b", "a%3Fb"),
        ("\ude00\ud83d", "%3F%3F"),
        ("\ufffd", "%EF%BF%BD"),
        ("\x00\n", "%00%0A"),
    ],
)
def test_characters_and_surrogates(name: str, sanitized: str):
    """As java.net.URLEncoder of Java 17: two surrogates that make a pair are the character, one alone becomes `?`."""
    assert sanitize(name) == sanitized


@pytest.mark.parametrize(
    ("name", "jmx"),
    [
        ("", ""),
        ("tab\tand space", "tab\tand space"),
        ("line\nfeed", '"line\\nfeed"'),
        ('quote"', '"quote\\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("what?", '"what\\?"'),
        ("cr\r", '"cr\r"'),
        ("é", '"é"'),
        ("٣", '"٣"'),
    ],
)
def test_jmx_quotes(name: str, jmx: str):
    assert jmx_sanitize(name) == jmx


@pytest.mark.parametrize(
    "name",
    ["%", "%4", "a%", "%zz", "% 1", "%-1", "%+", "%++", "%\uffff", "%\U0001f600", "%1\u00e9"],
)
def test_no_output_of_sanitize(name: str):
    with pytest.raises(NotSanitized):
        desanitize(name)


@pytest.mark.parametrize(
    ("sanitized", "name"),
    [
        ("a+b", "a b"),
        ("%e2%82%ac", "€"),
        ("%FFA", "\ufffdA"),
        ("%ED%A0%80", "\ufffd"),
        ("%BCqu%ED%BC%71u%ED", "\ufffdqu\ufffdqu\ufffd"),
        ("%C0%80", "\ufffd\ufffd"),
        ("%F0%9F%98", "\ufffd"),
        ("%+1", "\x01"),
        ("%٣٣", "3"),
        ("%ｆ0%9F%98%80", "\U0001f600"),
        ("é%41", "éA"),
    ],
)
def test_decodes_what_java_decodes(sanitized: str, name: str):
    assert desanitize(sanitized) == name


@given(st.text())
def test_round_trip(name: str):
    sanitized = sanitize(name)
    assert sanitized.isascii()
    assert desanitize(sanitized) == name


@given(ANY_TEXT)
def test_any_string_has_a_name(name: str):
    assert desanitize(sanitize(name)) is not None
    quoted = jmx_sanitize(name)
    assert quoted == name or (quoted[0] == quoted[-1] == '"')


JAVA = r"""
import java.io.*;
import org.apache.kafka.common.utils.Sanitizer;
public class Names {
    public static void main(String[] files) throws Exception {
        var in = new BufferedReader(new FileReader(files[0]));
        var out = new PrintWriter(files[1]);
        for (String line; (line = in.readLine()) != null; ) {
            var chars = new StringBuilder();
            for (int i = 0; i < line.length(); i += 4) chars.append((char) Integer.parseInt(line.substring(i, i + 4), 16));
            String name = chars.toString(), decoded;
            try { decoded = hex(Sanitizer.desanitize(name)); } catch (IllegalArgumentException e) { decoded = "refused"; }
            out.println(Sanitizer.sanitize(name) + " " + hex(Sanitizer.jmxSanitize(name)) + " " + decoded);
        }
        out.close();
    }
    // Surrogates on their own do not survive getBytes: char by char.
    static String hex(String s) {
        var hex = new StringBuilder();
        for (char c : s.toCharArray()) hex.append(String.format("%04x", (int) c));
        return hex.toString();
    }
}
"""


def utf16(text: str) -> str:
    return text.encode("utf-16-be", "surrogatepass").hex()


@pytest.mark.skipif(shutil.which("javac") is None, reason="runs a Java source: needs a JDK")
def test_equals_kafka(tmp_path: Path, kafka_clients_jar: Path):
    """Kafka's own class, over random strings that are rich in escapes, surrogates and digits of all scripts."""
    names: list[str] = []
    pieces = st.one_of(
        st.text(max_size=3),
        st.sampled_from(
            [
                "%",
                "%4",
                "%e2%82%ac",
                "%ED%A0%80",
                "%F0%9F",
                "%+1",
                "%-1",
                "%ｆ٣",
                "+",
                "*",
                "~",
                '"',
                "\\",
                "?",
            ]
        ),
        st.binary(max_size=4).map(lambda data: "".join(f"%{byte:02X}" for byte in data)),
        st.text(st.characters(categories=("Cs", "Nd")), max_size=2),
    )

    @settings(max_examples=1000, database=None, deadline=None)
    @given(st.lists(pieces, max_size=5).map("".join))
    def collect(name: str):
        names.append(name)

    collect()
    (tmp_path / "Names.java").write_text(JAVA)
    (tmp_path / "in").write_text("".join(f"{utf16(name)}\n" for name in names))
    subprocess.run(["java", "-cp", kafka_clients_jar, "Names.java", "in", "out"], cwd=tmp_path, check=True)
    results = (tmp_path / "out").read_text().splitlines()
    assert len(results) == len(names)
    for name, result in zip(names, results, strict=True):
        encoded, quoted, decoded = result.split(" ")
        assert sanitize(name) == encoded
        assert utf16(jmx_sanitize(name)) == quoted
        try:
            ours = utf16(desanitize(name))
        except NotSanitized:
            ours = "refused"
        assert ours == decoded, repr(name)
