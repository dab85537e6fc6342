"""Proves that check_docs.py refuses citations that lead nowhere and citations of foreign texts, and that
it leaves ordinary words alone.
"""

import unittest

import check_docs
import tidy

PAGE = "# Loop\n\n## Market sanity\n\n### 2. Turning it *off*\n"


def sources_of(**files):
    return {path: tidy.source_of(path, text) for path, text in files.items()}


def citations(path, text):
    return list(check_docs.check_citations(
        sources_of(**{"docs/contracts/loop.md": PAGE, path: text})))


def foreign(path, text):
    return list(check_docs.check_foreign(sources_of(**{path: text})))


class Citations(unittest.TestCase):
    def test_what_leads_somewhere_passes(self):
        for name in ("loop", "docs/contracts/loop"):
            self.assertEqual(citations("src/a.cc", f"// ({name}.md#market-sanity)."), [])
            self.assertEqual(citations("src/a.cc", f"// {name}.md#2-turning-it-off: why."), [])
        self.assertEqual(citations("docs/b.md", "[x](contracts/loop.md#loop)"), [])

    def test_a_heading_that_is_not_there_is_refused(self):
        found = citations("src/a.cc", "//\n// loop.md#market-sanit")
        self.assertEqual(len(found), 1)
        self.assertIn("src/a.cc:2:", found[0])

    def test_a_page_that_is_not_there_is_refused(self):
        for name in ("lop", "docs/contract/loop", "../loop"):
            self.assertEqual(len(citations("sim/a.h", f"// {name}.md#loop")), 1, name)

    def test_each_of_several_is_looked_at(self):
        text = "loop.md#loop, loop.md#none and loop.md#nor-this"
        self.assertEqual(len(citations("testing/a.h", text)), 2)

    def test_other_peoples_pages_are_not_ours(self):
        self.assertEqual(citations("docs/b.md", "https://example.org/x/y.md#usage"), [])


class ForeignTexts(unittest.TestCase):
    def test_each_kind_is_refused(self):
        for text in ("(S7)", "S7.3", "// S16: so", "| S3 | x |", "{  // R13", "R2.", "SEMANTICS, x",
                     "seed 002", "Seeds 003", "002 §6.1.8", "ROOMS H5", "CLUSTER C9", "DESK D1",
                     "finding H3", "Security audit, M4"):
            for path in ("src/a.cc", "sim/b.h", "docs/c.md", "tools/d.py", "testing/e.h", "bench/f.cc"):
                self.assertEqual(len(foreign(path, text)), 1, f"{path}: {text}")

    def test_ordinary_words_are_not(self):
        for text in ("IsTheFormulaOfS10", "S7_empty_plan.json", "S17", "S0", "R18", "I3, N8", "AWS S3cret",
                     "s3://bucket", "the room ROOMS", "seed 7", "0x002", "policy 002", "US7", "'S3'"):
            self.assertEqual(foreign("src/a.cc", text), [], text)

    def test_records_and_the_page_of_contracts_may(self):
        for path in ("docs/adr/0001-x.md", "docs/contracts/README.md", "conformance/a.cc"):
            self.assertEqual(foreign(path, "seed 002, S7"), [])

    def test_no_exemption_is_idle(self):
        sources = tidy.load(check_docs.Path(__file__).resolve().parent.parent)
        for place in check_docs.MAY_BE_FOREIGN:
            of_place = {p: s for p, s in sources.items() if tidy.within(p, (place,))}
            self.assertTrue(list(check_docs.check_foreign(of_place, ())), place)


if __name__ == "__main__":
    unittest.main()
