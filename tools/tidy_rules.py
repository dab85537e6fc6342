"""The rules of tidy.py that are about words, as tables.

A place is a folder ending in '/' or a file name pattern. `because` continues the sentence that
starts with the word found; `remedy` says what to do instead.
"""

from typing import NamedTuple

SOURCES = ("src/", "sim/", "bench/", "testing/", "conformance/*.cc", "conformance/*.h", "fuzz/*.cc")
# The parts of rooms whose results must be the same in every replay.
PURE = ("src/*/wire/*.h", "src/*/wire/*.cc", "src/*/rules/*.h", "src/*/rules/*.cc")
TESTS = ("*_test.cc", "*_suite.h", "*/test_*.h", "testing/")


class Word(NamedTuple):
    name: str
    pattern: str
    places: tuple
    because: str
    remedy: str
    except_places: tuple = ()
    in_comments: bool = False


class Vendor(NamedTuple):
    prefix: str
    places: tuple
    instead: str


WORDS = (
    # What makes a decision differ between two runs of the same record (I9).
    Word(
        "pure_clock",
        r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday|"
        r"localtime(_r)?|gmtime(_r)?)\b|\bstd::time\b|(?<![\w.>:])time\(",
        PURE, "reads a clock", "take a Timestamp from the event"),
    Word(
        "pure_random", r"\b(s?rand|random_device|mt19937(_64)?|random_bytes|getrandom)\b",
        PURE, "draws a random number", "take the value from the event; services ask IdSource"),
    Word(
        "pure_threads",
        r"\bstd::(j?thread|\w*mutex|condition_variable\w*|atomic\w*|async|future|promise|"
        r"(lock_guard|unique_lock|scoped_lock))\b|\bthread_local\b",
        PURE, "belongs to threads", "leave concurrency to services and net; rules run on one thread",
        TESTS),
    Word(
        "pure_order", r"\bunordered_(multi)?(map|set)\b",
        PURE, "has an order that does not replay", "use std::map, std::set or a sorted vector"),
    Word(
        "pure_io",
        r"\bstd::(cout|cerr|clog|cin|[io]?fstream|filesystem)\b|\b(fopen|f?printf|fwrite)\b|"
        r"<(iostream|fstream|filesystem|cstdio)>",
        PURE, "does input or output", "return an effect and let a service run it"),
    Word(
        "pure_log", r"\blog_(debug|info|warn|error)\b|\blog\(\s*LogLevel",
        PURE, "writes a log line", "return an audit entry; services and above log"),
    # Where a fact of the world may be asked for.
    Word(
        "clock", r"\bsystem_clock::now\b", SOURCES, "reads the wall clock",
        "ask engine/ports/clock.h", ("src/engine/system/", "src/base/log.cc", "bench/")),
    Word(
        "clock", r"\b(system_clock|steady_clock|high_resolution_clock)\b", ("src/*/service/*", "sim/"),
        "is a clock that the simulator cannot turn", "ask engine/ports/clock.h"),
    Word(
        "random", r"\brandom_bytes\(|\brandom_device\b|\bs?rand\(", SOURCES,
        "draws randomness that no test can repeat", "ask engine/ports/id_source.h",
        ("src/base/random.cc", "src/base/crypto.h", "src/engine/system/",
         "src/host/files/file_master_keys.cc", "bench/", *TESTS)),
    Word(
        "environment", r"\b(secure_)?getenv\b", SOURCES, "reads the environment",
        "read it in app/wiring/config and pass the value down", ("src/app/", *TESTS)),
    Word(
        "sleep", r"\b(sleep_for|sleep_until|u?sleep|nanosleep)\s*\(", SOURCES,
        "waits for time to pass", "wait for the event itself, or for a timer of services or net"),
    Word(
        "mutex", r"\bstd::(\w*mutex|condition_variable\w*)\b",
        ("src/*/ports/*", "src/*/service/*", "src/*/face/*", "src/app/*"),
        "locks outside net, adapters and base", "hand the work over through base/bounded_queue.h",
        TESTS),
    # Ways of writing.
    Word(
        "binary_float", r"\b(double|float)\b",
        ("src/base/decimal*", "src/base/money*", *PURE),
        "cannot hold a decimal exactly", "use Decimal, Price, Quantity or Notional"),
    Word(
        "regex", r"\bstd::regex\b|<regex>", SOURCES,
        "is slow and can overflow the stack on long input", "walk the text, or use base/text.h"),
    Word(
        "throw", r"\bthrow\b", SOURCES, "lets an exception leave our code",
        "return fail(kind, sentence)", TESTS),
    Word(
        "assert", r"(?<![\w:])assert\(", SOURCES, "vanishes in release builds", "use CHECK"),
    Word(
        "vague_name", r"\b(class|struct)\s+\w*(Manager|Helpers?|Utils?|Impl)\b", SOURCES,
        "says nothing about what it does", "name it after its work"),
    Word(
        "using_namespace", r"^using namespace\b(?!\s+std::[\w:]*literals)", SOURCES,
        "makes names come from anywhere in the file", "name what you use, or do it in one function"),
    # In every kind of file, comments included.
    Word(
        "unfinished", r"\b(TODO|FIXME|XXX|HACK)\b", ("*",), "marks unfinished work",
        "finish it, or open an issue and describe the present state", (), True),
    Word(
        "machine_path", r"(?<![\w.~-])/(work|home|root|Users)/[\w.-]+", ("*",),
        "exists on one machine only", "use a path relative to the project, or a temporary folder",
        (), True),
    Word(
        "registry_host",
        r"\bregistry\.(npmjs\.org|yarnpkg\.com)\b|\b[\w-]+\.pkg\.dev\b|\bfiles\.pythonhosted\.org\b",
        ("*",), "ties the build to one registry",
        "leave it to the installer's settings (npm: omit-lockfile-registry-resolved)", (), True),
)

VENDORS = (
    Vendor("sqlite3.h", ("src/engine/sqlite/", "sim/", "bench/"), "engine/ports/ledger_store.h"),
    Vendor("boost/", ("src/net/", "src/base/*_test.cc", "bench/"), "the interfaces in net/"),
    Vendor("openssl/", ("src/base/", "src/net/"), "base/crypto.h"),
    Vendor("sodium", ("src/base/",), "base/crypto.h"),
    Vendor("rapidjson/", ("src/base/json.cc",), "base/json.h"),
    Vendor("simdjson", ("src/base/*_test.cc", "bench/"), "base/json.h"),
    Vendor("spdlog/", ("src/base/log.cc",), "base/log.h"),
    Vendor("fmt/", ("*.cc",), "a .cc file: fmt is linked privately"),
    Vendor("toml++/", ("src/app/",), "src/app/wiring/config"),
    Vendor("CLI/", ("src/app/",), "app/command"),
    Vendor("prometheus/", ("src/host/service/",), "host/service/metrics.h"),
    Vendor("benchmark/", ("bench/",), "bench/"),
    Vendor("gtest/", (*TESTS, "conformance/", "sim/*_test.cc"), "a test file"),
    Vendor("gmock/", (*TESTS, "conformance/"), "a test file"),
    Vendor("rapidcheck", (*TESTS, "conformance/"), "a test file"),
)
