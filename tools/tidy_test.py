"""Proves that every rule of tidy.py can fire, and that ordinary code sets none off."""

import re
import unittest
from pathlib import Path

import tidy
import tidy_rules
from cpp_text import blank_comments, find_functions

OPENING = "// What the file is for,\n// in two lines.\n#pragma once\n"


def findings(path, text, **others):
    """Findings about one file, seen together with others given as name=text."""
    sources = {path: tidy.source_of(path, text)}
    for name, other in others.items():
        sources[name] = tidy.source_of(name, other)
    return [f for f in tidy.find_all(sources) if f.path == path]


def rules_hit(path, text, **others):
    return {f.rule for f in findings(path, text, **others)}


# For each row of the word table: a place and a text that break it.
WORD_CASES = [
    ("pure_clock", "src/loop/rules/a.cc", "auto t = std::chrono::steady_clock::now();"),
    ("pure_clock", "src/loop/rules/a.cc", "auto t = time(nullptr);"),
    ("pure_random", "src/loop/rules/a.cc", "std::mt19937 engine;"),
    ("pure_threads", "src/loop/rules/risk/a.cc", "std::mutex lock;"),
    ("pure_threads", "src/loop/wire/a.h", "std::atomic<int> count;"),
    ("pure_order", "src/loop/rules/a.cc", "std::unordered_map<int, int> seen;"),
    ("pure_io", "src/loop/rules/a.cc", "#include <fstream>"),
    ("pure_io", "src/loop/rules/a.cc", "std::cout << 1;"),
    ("pure_log", "src/loop/rules/a.cc", 'log_info("event");'),
    ("clock", "src/app/face/a.cc", "auto t = std::chrono::system_clock::now();"),
    ("clock", "src/loop/service/a.cc", "auto t = std::chrono::steady_clock::now();"),
    ("random", "src/loop/service/a.cc", "auto nonce = random_bytes(12);"),
    ("environment", "src/net/a.cc", 'auto home = std::getenv("HOME");'),
    ("sleep", "src/net/a_test.cc", "std::this_thread::sleep_for(1s);"),
    ("mutex", "src/loop/service/a.cc", "std::condition_variable_any ready;"),
    ("binary_float", "src/base/money.cc", "double price = 1;"),
    ("binary_float", "src/loop/rules/a.cc", "float price = 1;"),
    ("regex", "src/base/a.cc", "#include <regex>"),
    ("throw", "src/base/a.cc", "throw 1;"),
    ("assert", "src/base/a.cc", "assert(true);"),
    ("vague_name", "src/base/a.h", "class OrderManager {};"),
    ("using_namespace", "src/base/a.cc", "using namespace std;"),
    ("unfinished", "docs/a.md", "FIX" "ME later"),
    ("unfinished", "src/base/a.cc", "// TO" "DO later"),
    ("machine_path", "tools/a.sh", "cd /home" "/somebody"),
    ("registry_host", "a/package-lock.json", '"https://registry.npm' 'js.org/x.tgz"'),
]


class WordRules(unittest.TestCase):
    def test_each_case_fires(self):
        for rule, path, text in WORD_CASES:
            with self.subTest(rule=rule, text=text):
                self.assertIn(rule, rules_hit(path, text))

    def test_no_rule_is_without_a_case(self):
        self.assertEqual({w.name for w in tidy_rules.WORDS}, {case[0] for case in WORD_CASES})

    def test_every_row_is_hit_by_some_case(self):
        for row in tidy_rules.WORDS:
            with self.subTest(row=row.pattern):
                self.assertTrue(any(
                    rule == row.name and tidy.within(path, row.places)
                    and re.search(row.pattern, text) for rule, path, text in WORD_CASES))

    def test_excepted_places_are_left_alone(self):
        text = "auto t = std::chrono::system_clock::now(); auto r = random_bytes(8);"
        self.assertFalse({"clock", "random"} & rules_hit("src/engine/system/a.cc", text))

    def test_words_in_comments_and_literals_do_not_count(self):
        text = '// A double would round here.\nconst char* k = "std::mutex throw";\n'
        self.assertFalse(
            {"binary_float", "pure_threads", "throw"} & rules_hit("src/loop/rules/a.cc", text))

    def test_words_inside_longer_names_do_not_count(self):
        text = "int brand = 0; int runtime(int); static_assert(true); bool redouble;\n"
        self.assertFalse(rules_hit("src/loop/rules/a.cc", "// Opening.\n" + text))

    def test_every_finding_names_a_remedy(self):
        for rule, path, text in WORD_CASES:
            for finding in findings(path, text):
                self.assertIn(";", finding.message, rule)


class IncludeRules(unittest.TestCase):
    def test_each_vendor_header_fires_outside_its_folder(self):
        for vendor in tidy_rules.VENDORS:
            header = vendor.prefix + ("x.h" if vendor.prefix.endswith("/") else "")
            with self.subTest(header=header):
                path = "src/engine/ports/a.h"
                self.assertIn("vendor_include", rules_hit(path, f"#include <{header}>\n"))

    def test_a_vendor_header_is_welcome_in_its_folder(self):
        self.assertNotIn(
            "vendor_include", rules_hit("src/engine/sqlite/a.cc", "#include <sqlite3.h>\n"))

    def test_relative_includes_fire(self):
        for header in ("../base/json.h", "./json.h", "json.h"):
            with self.subTest(header=header):
                self.assertIn(
                    "relative_include", rules_hit("src/base/a.cc", f'#include "{header}"\n'))

    def test_a_neighbour_outside_the_layers_goes_by_its_bare_name(self):
        text = '#include "suite.h"\n'
        self.assertNotIn("relative_include", rules_hit("conformance/ports/a_test.cc", text))

    def test_an_include_from_the_layer_down_is_fine(self):
        self.assertNotIn(
            "relative_include", rules_hit("src/base/a.cc", '#include "base/json.h"\n'))


class ShapeRules(unittest.TestCase):
    def test_a_long_file_fires_and_one_at_the_limit_does_not(self):
        at_limit = "// x\n" * tidy.FILE_LINES_MAX
        self.assertNotIn("file_lines", rules_hit("src/base/a.cc", at_limit))
        self.assertIn("file_lines", rules_hit("src/base/a.cc", at_limit + "// x\n"))

    def test_a_long_line_fires_and_one_at_the_limit_does_not(self):
        at_limit = "//" + "x" * (tidy.COLUMNS_MAX - 2)
        self.assertNotIn("columns", rules_hit("src/base/a.cc", at_limit))
        self.assertIn("columns", rules_hit("src/base/a.cc", at_limit + "x"))

    def test_columns_are_characters_and_not_bytes(self):
        self.assertNotIn("columns", rules_hit("src/base/a.cc", "// " + "…" * 90))

    def test_a_long_function_fires_and_one_at_the_limit_does_not(self):
        def body(lines):
            return "// Opening.\nint f(int x) {\n" + "    x++;\n" * (lines - 2) + "}\n"
        limit = tidy.FUNCTION_LINES_MAX
        self.assertNotIn("function_lines", rules_hit("src/base/a.cc", body(limit)))
        self.assertIn("function_lines", rules_hit("src/base/a.cc", body(limit + 1)))

    def test_a_header_without_opening_or_guard_fires(self):
        self.assertLessEqual({"opening", "pragma_once"}, rules_hit("src/base/a.h", "int f();\n"))

    def test_a_source_beside_its_header_may_leave_the_opening_to_it(self):
        self.assertIn("opening", rules_hit("src/base/a.cc", "int f();\n"))
        others = {"src/base/a.h": OPENING}
        self.assertNotIn("opening", rules_hit("src/base/a.cc", "int f();\n", **others))
        self.assertNotIn("opening", rules_hit("src/base/a_test.cc", "int f();\n", **others))


class ReferenceRules(unittest.TestCase):
    def test_a_header_nobody_includes_fires(self):
        self.assertIn("unreferenced", rules_hit("src/base/a.h", OPENING))
        user = {"src/base/b.cc": '#include "base/a.h"\n'}
        self.assertNotIn("unreferenced", rules_hit("src/base/a.h", OPENING, **user))
        neighbour = {"sim/b.cc": '#include "a.h"\n'}
        self.assertNotIn("unreferenced", rules_hit("sim/a.h", OPENING, **neighbour))

    def test_a_document_nobody_links_fires(self):
        self.assertIn("unreferenced", rules_hit("docs/a.md", "See [me](a.md).\n"))
        link = {"README.md": "See [it](docs/a.md#part).\n"}
        self.assertNotIn("unreferenced", rules_hit("docs/a.md", "Text.\n", **link))

    def test_a_tool_nobody_names_fires(self):
        self.assertIn("unreferenced", rules_hit("tools/a.sh", "true\n"))
        self.assertNotIn("unreferenced", rules_hit("tools/a.sh", "true\n", test="tools/a.sh\n"))


class Exemptions(unittest.TestCase):
    finding = tidy.Finding("src/base/a.cc", 3, "regex", "x; y")

    def test_an_exemption_with_a_reason_covers_its_rule_and_path(self):
        line = "regex src/base/*.cc the vendor's example needs it\n"
        self.assertEqual(tidy.apply_exemptions([self.finding], line), [])

    def test_an_exemption_covers_nothing_else(self):
        left = tidy.apply_exemptions([self.finding], "throw src/base/*.cc some reason\n")
        self.assertIn(self.finding, left)

    def test_an_exemption_without_a_reason_fires(self):
        left = tidy.apply_exemptions([self.finding], "regex src/base/*.cc\n")
        self.assertEqual([f.rule for f in left], ["regex", "exemption"])

    def test_an_exemption_that_covers_nothing_fires(self):
        left = tidy.apply_exemptions([], "regex src/base/*.cc some reason\n")
        self.assertEqual([f.rule for f in left], ["exemption"])


class ReadingCpp(unittest.TestCase):
    def names(self, code):
        return [(f.name, f.last_line - f.first_line + 1)
                for f in find_functions(blank_comments(code))]

    def test_finds_functions_in_namespaces_and_types(self):
        code = """namespace a {
class B : public C {
    B(int x)
        : x_{x}, y_(x) {
        f();
    }
    int get() const { return x_; }
    int x_{0};
};
template <class T>
T f(T x) {
    if (x) { return x; }
    return {};
}
}  // namespace a
extern "C" int g() { return 1; }
"""
        self.assertEqual(self.names(code), [("B", 4), ("get", 1), ("f", 5), ("g", 1)])

    def test_names_a_test_by_suite_and_case(self):
        self.assertEqual(self.names("TEST(Json, Parses) {\n}\n"), [("Json.Parses", 2)])

    def test_braces_in_literals_comments_and_macros_do_not_count(self):
        code = """#define OPEN \\
    {
int f() {
    // }
    const char* a = "}"; char b = '}'; auto c = R"x(})x"; int d = 1'000;
    return 0;
}
int g() { return 1; }
"""
        self.assertEqual(self.names(code), [("f", 5), ("g", 1)])


class TheProject(unittest.TestCase):
    def test_the_listing_is_not_empty(self):
        sources = tidy.load(Path(__file__).resolve().parent.parent)
        self.assertIn("tools/tidy.py", sources)
        self.assertGreater(len(sources), 20)


if __name__ == "__main__":
    unittest.main()
