"""The mutation tool on a small file: it finds the mutants, one build holds them all, each can be
turned on alone, and what is said about it is true."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutants  # noqa: E402
from mutant_schemata import Mutant, Rewriter  # noqa: E402

SAMPLE = """\
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr int kLimit = 10 + 2;
constexpr int twice(int value) { return value * 2; }

struct Box {
    int held = 0;
    void put(int amount) { held = amount; }
};

// A comment with a < b && c in it, and "text < text".
bool fits(int value, const std::optional<int>& other) {
    if (value < 0) {
        return false;
    }
    return value < kLimit && (!other || *other != value);
}

int total(const std::vector<int>& values) {
    static_assert(sizeof(int) >= 2);
    int sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == 7) {
            continue;
        }
        sum += values[i];
    }
    return std::min(sum, 100);
}

int word(int kind) {
    switch (kind) {
        case 1 + 1:
            return 20;
        default:
            return kind > 5 ? 1 : 0;
    }
}

}  // namespace

int main() {
    Box box;
    box.put(3);
    const std::string joined = "a" + std::to_string(box.held);
    std::printf(
        "%d%d%d%d %d %d%d%d %s %d\\n",
        fits(-1, {}), fits(0, {}), fits(12, {}), fits(3, 3), total({1, 7, 2}),
        word(2), word(5), word(6), joined.c_str(), twice(4));
}
"""
HERE = pathlib.Path(__file__).resolve().parent


class Schemata(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.rewriter = Rewriter("sample.cc", SAMPLE, 1)
        text = f'#include "{HERE}/mutant_switch.h"\n' + cls.rewriter.mutate()
        source = pathlib.Path(cls.folder.name) / "sample.cc"
        source.write_text(text)
        cls.program = pathlib.Path(cls.folder.name) / "sample"
        subprocess.run(
            ["g++", "-std=gnu++23", "-O0", "-Wall", "-Wextra", str(source), "-o", str(cls.program)],
            check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def say(self, number=None, cover=None):
        environment = {} if number is None else {"INTERLOCK_MUTANT": str(number)}
        if cover:
            environment["INTERLOCK_MUTANT_COVER"] = cover
        return subprocess.run([str(self.program)], env=environment, check=False, timeout=10,
                              capture_output=True, text=True).stdout

    def numbers(self, change, text):
        return [mutant.number for mutant in self.rewriter.mutants
                if mutant.change == change and mutant.text == text]

    def test_without_a_switch_nothing_is_changed(self):
        self.assertEqual(self.say(), "0100 3 2001 a3 8\n")

    def test_each_switch_changes_what_it_says(self):
        for change, text, said in (
                ("< becomes <=", "value < 0", "0000"),
                ("< becomes <=", "value < kLimit", "0110"),
                ("!= becomes ==", "*other != value", "0101"),
                ("only what stands left of the last &&",
                 "value < kLimit && (!other || *other != value)", "0101"),
                ("the condition is false", "value < 0", "1100")):
            [number] = self.numbers(change, text)
            self.assertEqual(self.say(number)[:4], said, (change, text))
        [number] = self.numbers("the statement is gone", "box.put(3);")
        self.assertIn(" a0 ", self.say(number))
        [number] = self.numbers("the continue is gone", "continue;")
        self.assertIn(" 10 ", self.say(number))
        [number] = self.numbers("min becomes max", "min(sum, 100)")
        self.assertIn(" 100 ", self.say(number))
        [number] = self.numbers("one more", "0 in return kind > 5 ? 1 : 0;")
        self.assertIn(" 2011 ", self.say(number))
        [number] = self.numbers("> becomes >=", "kind > 5")
        self.assertIn(" 2011 ", self.say(number))

    def test_constants_labels_comments_and_text_are_left_alone(self):
        for mutant in self.rewriter.mutants:
            self.assertNotIn(mutant.text, ("1 + 1", "10 + 2", "value * 2", "sizeof(int) >= 2"))
        self.assertFalse(any(mutant.line == 17 for mutant in self.rewriter.mutants))
        self.assertEqual(self.numbers("+ becomes -", '"a" + std::to_string(box.held)'), [])

    def test_no_two_mutants_are_named_alike(self):
        rewriter = Rewriter("a.cc", "int f(int a) {\n    return a > 0 ? 0 : a + 0;\n}\n", 1)
        rewriter.mutate()
        texts = [mutant.text for mutant in rewriter.mutants if mutant.change == "one more"]
        line = "0 in return a > 0 ? 0 : a + 0;"
        self.assertEqual(texts, [line, line + " (again, 1)", line + " (again, 2)"])

    def test_lines_stay_where_they_are(self):
        self.assertEqual(self.rewriter.write().count("\n"), SAMPLE.count("\n"))

    def test_what_is_come_by_is_told(self):
        with tempfile.NamedTemporaryFile() as file:
            self.say(cover=file.name)
            reached = {int(line) for line in pathlib.Path(file.name).read_text().split()}
        self.assertTrue({number for number in reached if number > 0} >= set(
            self.numbers("< becomes <=", "value < kLimit")))

    def test_what_does_not_compile_is_left_out_and_counted(self):
        rewriter = Rewriter("sample.cc", SAMPLE, 1, {(19, "< becomes <=")})
        rewriter.mutate()
        self.assertEqual(rewriter.skipped, 1)
        self.assertEqual(len(rewriter.mutants), len(self.rewriter.mutants) - 1)

    def test_a_program_with_mutants_is_told_from_one_without(self):
        self.assertEqual(mutants.absent(self.program), 1)
        self.assertEqual(mutants.absent("/bin/sh"), 0)


class Equivalent(unittest.TestCase):
    MUTANT = Mutant(1, "a.cc", 3, "x | y", "< becomes <=")

    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return mutants.read_equivalent(pathlib.Path(file.name))

    def test_a_line_names_file_change_text_and_reason(self):
        known, problems = self.read("# why\n\na.cc | < becomes <= | x | y | both are the same\n")
        self.assertEqual(known, {("a.cc", "< becomes <=", "x | y"): "both are the same"})
        self.assertEqual(problems, [])
        self.assertEqual(mutants.stale_lines(known, [self.MUTANT]), [])

    def test_a_line_without_a_reason_is_a_problem(self):
        self.assertEqual(len(self.read("a.cc | < becomes <= | x\n")[1]), 1)

    def test_a_line_whose_source_changed_is_stale(self):
        known, _ = self.read("a.cc | < becomes <= | z | both are the same\n")
        self.assertEqual(len(mutants.stale_lines(known, [self.MUTANT])), 1)

    def test_every_line_we_have_names_a_mutant_of_today(self):
        known, problems = mutants.read_equivalent()
        present = []
        for name in {key[0] for key in known}:
            rewriter = Rewriter(name, (mutants.ROOT / name).read_text(), 1)
            rewriter.mutate()
            present += rewriter.mutants
        self.assertEqual(problems + mutants.stale_lines(known, present), [])


if __name__ == "__main__":
    unittest.main()
