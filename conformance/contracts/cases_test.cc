// Runs every case under conformance/contracts/*/cases: each is a rule of a contract, cited by its
// section, told as requests and expected answers. A case file is {"rule", "cites", "steps": […]}.
//
// Steps: {"as", "call": "POST /path", "body", "headers", "expect": {"status", "body"}, "save"};
// {"restart": true}; {"advance_seconds": n}; {"run_effects": true}; {"sink":
// "lose_answers"|"refuse"
// |"ok"}; {"break_store": bool}; {"kill_file": bool}; {"expect_events": {"tenant", "events"}};
// {"expect_effects": {"kind": n}}; {"letters"|"posts": {"to", "holds", "count"}} counts the notices
// that left so far; {"webhooks": "fail"|"ok"}; {"watch": true} looks at the venue; {"market":
// {"bid", "ask", "halted"}} in ticks; {"venue": [faults]}; {"stand_still_seconds": n} moves the
// clock alone. Expected bodies are matched as subsets: members named must be there and equal, {} is
// an object without members, and no answer has members that its operation does not declare
// (api_world.cc).
// "$saved:name" is what an earlier step saved, {"$has": [...]} an array that holds these, "$<form>"
// a value of one of kForms ("$count" and "$audit_ref" besides), for what may be another in every
// run. Nothing matches everything. "$cookie:name" saves a cookie of the answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "api_world.h"

namespace interlock {
namespace {

namespace fs = std::filesystem;

struct CaseFile {
    std::string name;
    std::string text;
};

void PrintTo(const CaseFile& file, std::ostream* out) {
    *out << file.name;
}

std::vector<CaseFile> case_files() {
    std::vector<CaseFile> files;
    const fs::path root = fs::path(INTERLOCK_SOURCE_DIR) / "conformance/contracts";
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        // The tables of pure functions (gates/) have a form and a test of their own.
        const bool is_case = entry.path().parent_path().filename() == "cases";
        if (is_case && entry.path().extension() == ".json") {
            std::ifstream in(entry.path());
            std::stringstream text;
            text << in.rdbuf();
            std::string name = fs::relative(entry.path(), root).string();
            files.push_back({std::move(name), text.str()});
        }
    }
    std::sort(files.begin(), files.end(), [](const CaseFile& a, const CaseFile& b) {
        return a.name < b.name;
    });
    return files;
}

// A text that begins so and goes on with so many characters of an alphabet; no length: with a whole
// number above zero.
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
struct Form {
    std::string_view name;
    std::string_view prefix;
    std::string_view alphabet;
    std::size_t length = 0;
};
constexpr std::array kForms{
    Form{"$hash", "", kHex, 64},
    Form{"$signature", "", kHex, 128},
    Form{"$artifact", "sha256:", kHex, 64},
    Form{"$audit_id", "demo.", kDigits},
    Form{"$system_id", "sys_", kDigits},
    Form{"$order_id", "h", kBase32, 31},
    Form{"$approval_id", "apr_", kBase32, 26},
    Form{"$human_id", "hum_", kBase32, 26},
    Form{"$tenant_id", "tn_", kBase32, 26},
    Form{"$key_id", "key_", kBase32, 26},
    Form{"$agent", "agent:key_", kBase32, 26},
    Form{"$access_key", "ilk_", kBase32, 52},
    Form{"$notice_secret", "ilw_", kBase32, 52},
    Form{"$relay_secret", "ilr_", kBase32, 52},
    Form{"$recovery_code", "ilr-", "abcdefghijklmnopqrstuvwxyz234567-", 24},
};

bool fits(std::string_view text, const Form& form) {
    if (!text.starts_with(form.prefix)) {
        return false;
    }
    const std::string_view rest = text.substr(form.prefix.size());
    const bool is_long =
        form.length == 0 ? !rest.empty() && rest.front() != '0' : rest.size() == form.length;
    return is_long && rest.find_first_not_of(form.alphabet) == std::string_view::npos;
}

bool has_form(const Json& found, const std::string& name) {
    if (name == "$count") {
        return !found.is_string() && fits(to_text(found), {name, "", kDigits});
    }
    if (!found.is_string()) {
        return false;
    }
    const std::string_view text = found.as_string();
    if (name == "$audit_ref") {  // "<seq>:<first 16 hex digits of its hash>"
        const std::size_t colon = text.find(':');
        return colon != std::string_view::npos &&
               fits(text.substr(0, colon), {name, "", kDigits}) &&
               fits(text.substr(colon + 1), {name, "", kHex, 16});
    }
    const auto form = std::find_if(
        kForms.begin(), kForms.end(), [&](const Form& one) { return one.name == name; });
    return form != kForms.end() && fits(text, *form);
}

bool is_form(const Json& wanted) {
    return wanted.is_string() && wanted.as_string().starts_with("$") &&
           !wanted.as_string().starts_with("$saved:");
}

class CaseRunner {
public:
    void run(const Json& steps) {
        int number = 0;
        for (const Json& step : steps.items()) {
            ++number;
            SCOPED_TRACE("step " + std::to_string(number) + ": " + to_text(step));
            take(step);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
        EXPECT_GT(number, 0);
    }

private:
    void take(const Json& step) {
        if (step.find("call") != nullptr) {
            call(step);
        } else if (step.find("restart") != nullptr) {
            world_.restart();
        } else if (const Json* seconds = step.find("advance_seconds")) {
            world_.advance(Duration::of_seconds(*seconds->as_int64()));
        } else if (const Json* still = step.find("stand_still_seconds")) {
            world_.plane_world().clock.advance(Duration::of_seconds(*still->as_int64()));
        } else if (step.find("watch") != nullptr) {
            world_.watch();
        } else if (const Json* market = step.find("market")) {
            world_.set_market(market_view(*market));
        } else if (const Json* faults = step.find("venue")) {
            set_faults(*faults);
        } else if (step.find("run_effects") != nullptr) {
            world_.plane_world().run_effects();
            compare_waiting();
        } else if (const Json* mood = step.find("sink")) {
            world_.plane_world().sink.lose_answer = mood->as_string() == "lose_answers";
            world_.plane_world().sink.refuse = mood->as_string() == "refuse";
        } else if (const Json* broken = step.find("break_store")) {
            world_.plane_world().store.broken = broken->as_bool();
        } else if (const Json* raised = step.find("kill_file")) {
            set_kill_file(raised->as_bool());
        } else if (const Json* events = step.find("expect_events")) {
            expect_events(*events);
        } else if (const Json* effects = step.find("expect_effects")) {
            expect_effects(*effects);
        } else if (const Json* letters = step.find("letters")) {
            expect_letters(*letters);
        } else if (const Json* posts = step.find("posts")) {
            expect_posts(*posts);
        } else if (const Json* answers = step.find("webhooks")) {
            world_.webhooks.failure =
                answers->as_string() == "fail" ? &errors::webhook_failed : nullptr;
        } else if (step.find("settle") != nullptr) {
            settle();
        } else {
            FAIL() << "unknown step";
        }
    }

    static void replace_all(std::string& text, const std::string& mark, const std::string& value) {
        for (std::size_t at = text.find(mark); at != std::string::npos;
             at = text.find(mark, at + value.size())) {
            text.replace(at, mark.size(), value);
        }
    }

    void call(const Json& step) {
        const std::string& line = step.find("call")->as_string();
        const std::size_t space = line.find(' ');
        ApiWorld::Sent sent;
        sent.as = step.find("as") == nullptr ? "nobody" : step.find("as")->as_string();
        sent.method = line.substr(0, space);
        sent.path = fill(line.substr(space + 1));
        if (const Json* body = step.find("body")) {
            sent.body = fill(to_text(*body));
        }
        if (const Json* headers = step.find("headers")) {
            for (const auto& [name, value] : headers->members()) {
                sent.headers.emplace_back(name, fill(value.as_string()));
            }
        }
        if (const Json* raw = step.find("raw_body")) {
            sent.body = raw->as_string();
        }
        const auto response = world_.send_later(sent);
        const Json* expect = step.find("expect");
        if (!response->has_value()) {
            waiting_.push_back({response, expect == nullptr ? Json() : *expect});
            return;
        }
        if (expect != nullptr) {
            compare(**response, *expect);
        }
        if (const Json* names = step.find("save")) {
            save(**response, *names);
        }
    }

    void compare_waiting() {
        for (auto& [response, expect] : std::exchange(waiting_, {})) {
            ASSERT_TRUE(response->has_value()) << "a request was never answered";
            if (!expect.is_null()) {
                compare(**response, expect);
            }
        }
    }

    void compare(const HttpResponse& response, const Json& expect) {
        if (const Json* status = expect.find("status")) {
            EXPECT_EQ(std::to_string(response.status), status->number_text()) << response.body;
        }
        if (const Json* body = expect.find("body")) {
            const auto json = parse_json(response.body);
            ASSERT_TRUE(json) << response.body;
            match(*json, *body, "body");
        }
        if (const Json* same = expect.find("same_bytes_as")) {
            EXPECT_EQ(response.body, saved_["bytes:" + same->as_string()]);
        }
    }

    void match(const Json& found, const Json& wanted, const std::string& path) {
        if (is_form(wanted)) {
            EXPECT_TRUE(has_form(found, wanted.as_string()))
                << path << " is " << to_text(found) << " and has not the form "
                << wanted.as_string();
            return;
        }
        if (const Json* parts = wanted.find("$has")) {
            ASSERT_TRUE(found.is_array()) << path;
            for (const Json& part : parts->items()) {
                const auto& items = found.items();
                EXPECT_TRUE(std::any_of(
                    items.begin(),
                    items.end(),
                    [&](const Json& item) { return holds(item, part); }))
                    << path << " lacks " << to_text(part) << ": " << to_text(found);
            }
            return;
        }
        if (wanted.is_object()) {
            ASSERT_TRUE(found.is_object()) << path << " is no object: " << to_text(found);
            EXPECT_TRUE(!wanted.members().empty() || found.members().empty())
                << path << " is not empty: " << to_text(found);
            for (const auto& [key, value] : wanted.members()) {
                const Json* inner = found.find(key);
                ASSERT_NE(inner, nullptr)
                    << path << "." << key << " is missing: " << to_text(found);
                match(*inner, value, path + "." + key);
            }
            return;
        }
        if (wanted.is_array()) {
            ASSERT_TRUE(found.is_array()) << path;
            ASSERT_EQ(found.items().size(), wanted.items().size()) << path << to_text(found);
            for (std::size_t i = 0; i < wanted.items().size(); ++i) {
                match(found.items()[i], wanted.items()[i], path + "[" + std::to_string(i) + "]");
            }
            return;
        }
        EXPECT_EQ(to_text(found), fill(to_text(wanted))) << path;
    }

    // The same without complaint, for one of several items.
    bool holds(const Json& found, const Json& wanted) const {
        if (is_form(wanted)) {
            return has_form(found, wanted.as_string());
        }
        if (!wanted.is_object()) {
            return to_text(found) == fill(to_text(wanted));
        }
        if (!found.is_object() || (wanted.members().empty() && !found.members().empty())) {
            return false;
        }
        for (const auto& [key, value] : wanted.members()) {
            const Json* inner = found.find(key);
            if (inner == nullptr || !holds(*inner, value)) {
                return false;
            }
        }
        return true;
    }

    static std::string cookie_in(const HttpResponse& response, const std::string& name) {
        for (const auto& [header, value] : response.headers) {
            if (header == "Set-Cookie" && value.starts_with(name + "=")) {
                return value.substr(name.size() + 1, value.find(';') - name.size() - 1);
            }
        }
        return {};
    }

    void save(const HttpResponse& response, const Json& names) {
        const auto json = parse_json(response.body);
        ASSERT_TRUE(json) << response.body;
        for (const auto& [name, pointer] : names.members()) {
            if (pointer.as_string() == "$bytes") {
                saved_["bytes:" + name] = response.body;
                continue;
            }
            if (constexpr std::string_view kCookie = "$cookie:";
                pointer.as_string().starts_with(kCookie)) {
                saved_[name] = cookie_in(response, pointer.as_string().substr(kCookie.size()));
                EXPECT_FALSE(saved_[name].empty()) << pointer.as_string() << " was not set";
                continue;
            }
            const Json* value = &*json;
            std::stringstream keys(pointer.as_string());
            for (std::string key; std::getline(keys, key, '.');) {
                value = value->is_array() ? &value->items().at(std::stoul(key)) : value->find(key);
                ASSERT_NE(value, nullptr) << pointer.as_string() << ": " << response.body;
            }
            saved_[name] = value->is_string() ? value->as_string() : to_text(*value);
        }
    }

    std::string fill(std::string text) const {
        for (const auto& [name, value] : saved_) {
            replace_all(text, "$saved:" + name, value);
        }
        return text;
    }

    // {"bid": ticks, "ask": ticks, "halted": bool}; two ABC stand on either side.
    static MarketView market_view(const Json& wanted) {
        MarketView view;
        const auto level = [](const Json& ticks) {
            return MarketLevel{{*ticks.as_int64()}, {2'000}};
        };
        view.bids.push_back(level(*wanted.find("bid")));
        view.asks.push_back(level(*wanted.find("ask")));
        view.halted = wanted.find("halted") != nullptr && wanted.find("halted")->as_bool();
        return view;
    }

    void set_faults(const Json& words) {
        std::vector<PaperFault> faults;
        for (const Json& word : words.items()) {
            const auto kind = parse_paper_fault(word.as_string());
            ASSERT_TRUE(kind) << word.as_string();
            faults.push_back({.kind = *kind, .delay = Duration::of_seconds(5)});
        }
        ASSERT_TRUE(world_.paper().set_faults(std::move(faults)));
    }

    void set_kill_file(bool raised) {
        FakeKillFlag& flag = world_.plane_world().flag;
        flag.raised = raised;
        flag.why = "KILL file";
        if (raised) {
            world_.plane_world().plane->kill.on_flag_raised();
        }
    }

    void settle() {
        PlaneWorld& plane_world = world_.plane_world();
        for (const OutboxItem& effect : std::exchange(plane_world.recovery.unsettled, {})) {
            plane_world.submit(
                plane_world.plane->runner.outcome_turn(plane_world.plane->outbox.settle(effect)));
        }
        compare_waiting();
    }

    void expect_events(const Json& wanted) {
        const auto events = world_.plane_world().events(wanted.find("tenant")->as_string());
        const auto& tail = wanted.find("events")->items();
        ASSERT_GE(events.size(), tail.size());
        for (std::size_t i = 0; i < tail.size(); ++i) {
            EXPECT_EQ(events[events.size() - tail.size() + i], tail[i].as_string());
        }
    }

    void expect_effects(const Json& wanted) {
        std::map<std::string, std::int64_t> counts;
        for (const OutboxItem& effect : world_.plane_world().sink.performed) {
            ++counts[effect.kind];
        }
        for (const auto& [kind, count] : wanted.members()) {
            EXPECT_EQ(counts[kind], *count.as_int64()) << kind;
        }
    }

    void expect_letters(const Json& wanted) {
        const std::string holds = fill(wanted.find("holds")->as_string());
        std::int64_t count = 0;
        for (const Mail& mail : world_.notice_mailer.sent) {
            const bool is_there = mail.subject.contains(holds) || mail.text.contains(holds);
            count += mail.to == wanted.find("to")->as_string() && is_there ? 1 : 0;
        }
        EXPECT_EQ(count, *wanted.find("count")->as_int64());
    }

    void expect_posts(const Json& wanted) {
        const std::string holds = fill(wanted.find("holds")->as_string());
        EXPECT_EQ(
            std::ranges::count_if(
                world_.webhooks.posts,
                [&](const WebhookPost& post) { return post.body.contains(holds); }),
            *wanted.find("count")->as_int64());
    }

    ApiWorld world_;
    std::map<std::string, std::string> saved_;
    struct Waiting {
        std::shared_ptr<std::optional<HttpResponse>> response;
        Json expect;
    };
    std::vector<Waiting> waiting_;
};

class ContractCase : public testing::TestWithParam<CaseFile> {};

TEST_P(ContractCase, Holds) {
    const auto json = parse_json(GetParam().text);
    ASSERT_TRUE(json) << json.error().message;
    ASSERT_NE(json->find("rule"), nullptr);
    ASSERT_NE(json->find("cites"), nullptr) << "a case cites the section it proves";
    SCOPED_TRACE(json->find("rule")->as_string());
    CaseRunner().run(*json->find("steps"));
}

INSTANTIATE_TEST_SUITE_P(
    Contracts, ContractCase, testing::ValuesIn(case_files()), [](const auto& given) {
        std::string name = given.param.name;
        for (char& c : name) {
            c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        }
        return name;
    });

}  // namespace
}  // namespace interlock
