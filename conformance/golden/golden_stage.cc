#include "golden_stage.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/text.h"
#include "engine/service/ledger_export.h"
#include "host/service/archive_cut.h"
#include "loop/service/loop_store.h"
#include "market/rules/synthetic_market.h"
#include "trader/service/decision_receipt.h"

namespace interlock {
namespace {

constexpr std::int64_t kPageRecords = 1000;
constexpr int kRelayRoundsMax = 2000;
const VenueAccount kAccount{
    TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};

Duration seconds_of(const GoldenStep& step) {
    return Duration::of_seconds(std::stoll(step.words.at(1)));
}

// {"bid", "ask"} in ticks; two ABC stand on either side.
MarketView market_of(const GoldenStep& step) {
    MarketView view;
    view.bids.push_back({{std::stoll(step.words.at(1))}, {2'000}});
    view.asks.push_back({{std::stoll(step.words.at(2))}, {2'000}});
    view.halted = step.words.size() > 3 && step.words[3] == "halted";
    return view;
}

std::vector<PaperFault> faults_of(const GoldenStep& step) {
    std::vector<PaperFault> faults;
    for (std::size_t i = 1; i < step.words.size(); ++i) {
        const auto kind = parse_paper_fault(step.words[i]);
        EXPECT_TRUE(kind) << step.words[i];
        if (kind) {
            faults.push_back({.kind = *kind, .delay = Duration::of_seconds(5)});
        }
    }
    return faults;
}

std::string chain_text(LedgerStore& store, const TenantId& tenant_id) {
    std::string text;
    std::int64_t after = 0;
    for (;;) {
        const auto page = store.read_ledger(tenant_id, after, kPageRecords);
        EXPECT_TRUE(page) << tenant_id.text();
        if (!page || page->empty()) {
            return text;
        }
        for (const LedgerEntry& entry : *page) {
            text += entry.canonical_json + "\n";
        }
        after = page->back().seq;
    }
}

}  // namespace

GoldenStage::GoldenStage(GoldenValues& values) : values_(values) {
    add_world_directives();
    add_time_directives();
    add_ledger_directives();
    add_relay_directives();
}

std::vector<std::string> GoldenStage::run(const GoldenStep& step) {
    const auto found = directives_.find(step.words.at(0));
    if (found == directives_.end() || (!has_world() && step.words[0] != "world")) {
        ADD_FAILURE() << "no such directive, or no world yet: " << step.text;
        return {};
    }
    return found->second(step);
}

void GoldenStage::add_world_directives() {
    const auto add = [this](const std::string& word, std::function<void(const GoldenStep&)> run) {
        directives_[word] = [run = std::move(run)](const GoldenStep& step) {
            run(step);
            return Lines();
        };
    };
    add("world", [this](const GoldenStep& step) { open_world(step.words.at(1)); });
    add("market", [this](const GoldenStep& step) { world().set_market(market_of(step)); });
    add("faults", [this](const GoldenStep& step) {
        EXPECT_TRUE(world().paper().set_faults(faults_of(step)));
    });
    add("webhooks", [this](const GoldenStep& step) {
        world().webhooks.failure = step.words.at(1) == "fail" ? &errors::webhook_failed : nullptr;
    });
    add("account", [this](const GoldenStep& step) { change_account(step.words.at(1)); });
    add("restart", [this](const GoldenStep&) {
        world().restart();
        ++life_;
    });
    add("restore", [this](const GoldenStep&) { restore(); });
    directives_["letters"] = [this](const GoldenStep&) { return letters_since(); };
    add("letter_code", [this](const GoldenStep& step) { keep_letter_code(step.words.at(1)); });
    // "sha256:<hex>" without its first word, as $digits.
    add("digits", [this](const GoldenStep& step) {
        values_["digits"] = step.words.at(1).substr(step.words[1].find(':') + 1);
    });
    add("totp", [this](const GoldenStep& step) {
        const auto key = from_base32(step.words.at(1));
        ASSERT_TRUE(key) << step.text;
        values_["totp"] =
            totp_code(*key, world().plane_world().clock.now().microseconds / 1'000'000);
    });
}

void GoldenStage::add_time_directives() {
    const auto add = [this](const std::string& word, std::function<void(const GoldenStep&)> run) {
        directives_[word] = [run = std::move(run)](const GoldenStep& step) {
            run(step);
            return Lines();
        };
    };
    add("advance", [this](const GoldenStep& step) { world().advance(seconds_of(step)); });
    add("pass", [this](const GoldenStep& step) { world().pass(seconds_of(step)); });
    add("stand_still",
        [this](const GoldenStep& step) { world().plane_world().clock.advance(seconds_of(step)); });
    add("watch", [this](const GoldenStep&) { world().watch(); });
    add("effects", [this](const GoldenStep&) { world().plane_world().run_effects(); });
}

void GoldenStage::add_ledger_directives() {
    const auto add = [this](const std::string& word, std::function<void(const GoldenStep&)> run) {
        directives_[word] = [run = std::move(run)](const GoldenStep& step) {
            run(step);
            return Lines();
        };
    };
    add("seal", [this](const GoldenStep&) { world().plane_world().plane->ledger.sign_all(); });
    add("segment",
        [this](const GoldenStep& step) { write_segment(TenantId::trusted(step.words.at(1))); });
    add("receipt",
        [this](const GoldenStep& step) { write_receipt_of(step.words.at(1), step.words.at(2)); });
    // A line of this server's own heads.log stands for one of a server that is witnessed.
    add("head_line", [this](const GoldenStep& step) {
        const auto& lines = world().plane_world().head_log.lines;
        const std::string text = to_text(Json(lines.at(std::stoul(step.words.at(1)))));
        values_["line"] = text.substr(1, text.size() - 2);
        values_["chain"] = to_hex(world().plane_world().keys.first_public_key());
    });
}

void GoldenStage::add_relay_directives() {
    directives_["dial"] = [this](const GoldenStep& step) {
        Gateway gateway{std::make_shared<RelaySession>(), std::make_shared<RecordingSocket>()};
        gateway.session->caller = {TenantId::trusted("demo"), step.words.at(2), step.words.at(1)};
        gateway.session->socket = gateway.socket;
        EXPECT_TRUE(world().relay().plane().desk.open(gateway.session));
        EXPECT_TRUE(world().relay().plane().desk.take(
            gateway.session, HelloFrame{"local", "console", {}}, [] {}));
        world().relay().settle();
        gateways_[step.words[1]] = std::move(gateway);
        return Lines();
    };
    directives_["tell"] = [this](const GoldenStep& step) {
        std::istringstream in(step.text);
        std::string word;
        in >> word >> word >> word >> std::ws;
        std::string line;
        std::getline(in, line);
        auto frame = decode_gateway_frame(line);
        EXPECT_TRUE(frame) << line;
        if (frame) {
            EXPECT_TRUE(world().relay().plane().desk.take(
                gateways_.at(step.words.at(1)).session, *std::move(frame), [] {}));
            world().relay().settle();
        }
        return Lines();
    };
    directives_["frames"] = [this](const GoldenStep& step) {
        Lines lines = frames_of(step.words.at(1), std::stoul(step.words.at(2)));
        for (const GoldenKeep& keep : step.keeps) {
            values_[keep.name] = golden_value(lines.empty() ? "" : lines.back(), keep.pointer);
        }
        return lines;
    };
    directives_["hang_up"] = [this](const GoldenStep& step) {
        world().relay().plane().desk.closed(gateways_.at(step.words.at(1)).session);
        world().relay().settle();
        gateways_.erase(step.words[1]);
        return Lines();
    };
    directives_["console"] = [this](const GoldenStep& step) {
        const bool cuts = step.words.at(1) == "cuts";
        EXPECT_TRUE(cuts || step.words[1] == "none") << step.text;
        world().relay().console().set_fault(cuts ? ConsoleFault::cuts : ConsoleFault::none);
        return Lines();
    };
    // Also what the relay's own threads are at: calls to platforms.
    directives_["settle"] = [this](const GoldenStep&) {
        const auto is_pending = [this] {
            const Json status = world().send_json({.as = "operator", .path = "/api/relay/status"});
            return *status.find("outbounds_pending") != Json(0);
        };
        int rounds = 0;
        for (; rounds < kRelayRoundsMax && is_pending(); ++rounds) {
            world().relay().plane().lane.run_round(std::chrono::milliseconds(1));
        }
        EXPECT_LT(rounds, kRelayRoundsMax);
        return Lines();
    };
}

void GoldenStage::open_world(const std::string& kind) {
    CHECK(!has_world());
    PlaneConfig config = ApiWorld::default_config();
    if (kind == "nine") {  // Markets of nine symbols, as bots have them.
        world_ = std::make_unique<ApiWorld>(config, std::make_unique<SyntheticMarket>());
        return;
    }
    config.supervisor.enabled = kind == "supervised";
    config.loop.shadow_available = true;
    world_ = std::make_unique<ApiWorld>(config);
}

// The same bytes, opened without the key: what a backup brings.
void GoldenStage::restore() {
    world().plane_world().keys.lose();
    world().restart();
    world().plane_world().plane->runner.fire_timers(100);
    ++life_;
}

// What only a long and unlucky history of trades brings about.
void GoldenStage::change_account(const std::string& how) {
    const Timestamp now = world().plane_world().clock.now();
    TurnRequest turn;
    turn.tenant_id = kAccount.tenant_id;
    turn.principal = internal_principal("test");
    turn.function = "test";
    turn.decide = [&](Turn& t) -> Result<TurnReply> {
        TRY_ASSIGN(const AccountView view, load_account(t, kAccount));
        Account next = *view.account;
        if (how == "escalated") {
            next.recovery.phase = RecoveryPhase::escalated;
            next.recovery.reasons = {"balance_mismatch"};
        } else if (how == "drawdown") {
            next.money.peak = Decimal(20'000);
            next.tier.drawdown_latched_at = now;
        } else if (how == "flow") {
            next.external_flows.push_back(
                {.asset = Asset::parse("USDT").value(),
                 .amount = Decimal(50),
                 .first_seen_at = now,
                 .last_seen_at = now});
        } else if (how == "throttled") {
            StrategyRecord& strategy = next.strategies[StrategyId::trusted("external")];
            strategy.is_disabled = true;
            strategy.disabled_reason = "repeated_execution";
        } else {
            ADD_FAILURE() << "no such account: " << how;
        }
        ++next.version;
        world().plane_world().plane->loop->put_account(t, std::move(next));
        return Answer{200, "{}"};
    };
    turn.reply = [](const Result<Answer>& answer) { EXPECT_TRUE(answer); };
    world().plane_world().submit(std::move(turn));
}

// As `interlock audit archive` does it; the segment is kept as $segment.
void GoldenStage::write_segment(const TenantId& tenant_id) {
    PlaneWorld& plane = world().plane_world();
    const auto chosen = choose_segment(plane.memory, tenant_id, plane.clock.now());
    ASSERT_TRUE(chosen && *chosen);
    ArchivedSegment segment = **chosen;
    std::ostringstream out;
    const auto written = write_export(
        {.store = plane.memory,
         .signer = {plane.keys.first_public_key(), plane.keys.current().epoch, plane.keys.pair()},
         .created_at = plane.clock.now(),
         .segment = SegmentRange{segment.from, segment.to}},
        tenant_id,
        out);
    ASSERT_TRUE(written && !written->fault);
    std::istringstream in(out.str());
    ASSERT_TRUE(confirm_segment(
        in, {plane.keys.first_public_key(), plane.plane->ledger.lineage(), tenant_id}, segment));
    segment.bytes = std::ssize(out.str());
    segment.sha256 = sha256_hex(out.str());
    plane.segments.files[segment.file] = out.str();
    values_["segment"] = to_text(encode(segment));
    files_["segment." + tenant_id.text() + ".jsonl"] = out.str();
}

void GoldenStage::write_receipt_of(const std::string& decision, const std::string& file) {
    PlaneWorld& plane = world().plane_world();
    const auto text = write_receipt(
        {.store = plane.memory,
         .signer = {plane.keys.first_public_key(), plane.keys.current().epoch, plane.keys.pair()},
         .created_at = plane.clock.now()},
        kAccount.tenant_id,
        DecisionId::trusted(decision));
    ASSERT_TRUE(text) << text.error().message;
    files_[file] = *text + (text->ends_with('\n') ? "" : "\n");
}

// What left for people and webhooks since this was asked last, as it left.
std::vector<std::string> GoldenStage::letters_since() {
    world().advance(Duration{});  // A letter is a timer that is due.
    Lines lines;
    for (const FakeMailer* mailer : {&world().mailer, &world().notice_mailer}) {
        for (std::size_t& i = shown_[mailer]; i < mailer->sent.size(); ++i) {
            const Mail& mail = mailer->sent[i];
            lines.push_back("to " + mail.to + ": " + mail.subject);
            for (const std::string_view line : split(mail.text, '\n')) {
                lines.push_back("| " + std::string(line));
            }
        }
    }
    for (std::size_t& i = shown_[&world().webhooks]; i < world().webhooks.posts.size(); ++i) {
        const WebhookPost& post = world().webhooks.posts[i];
        lines.push_back("POST " + post.url);
        lines.push_back(post.signature_header + ": " + post.signature);
        lines.push_back(post.body);
    }
    return lines;
}

// The one-time code of the newest letter to the address, as $code.
void GoldenStage::keep_letter_code(const std::string& to) {
    world().advance(Duration{});  // A letter is a timer that is due.
    const auto& sent = world().mailer.sent;
    const auto letter =
        std::find_if(sent.rbegin(), sent.rend(), [&](const Mail& mail) { return mail.to == to; });
    ASSERT_NE(letter, sent.rend()) << to;
    const std::size_t at = letter->text.find("code=");
    ASSERT_NE(at, std::string::npos) << letter->text;
    values_["code"] = letter->text.substr(at + 5, letter->text.find_first_of(" \r\n", at) - at - 5);
}

// So many lines that came down to the gateway since it was asked last.
std::vector<std::string> GoldenStage::frames_of(const std::string& gateway, std::size_t count) {
    RecordingSocket& socket = *gateways_.at(gateway).socket;
    for (int i = 0; i < kRelayRoundsMax && socket.lines.size() < count; ++i) {
        world().relay().plane().lane.run_round(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(socket.lines.size(), count);
    std::vector<std::string> lines;
    for (std::string& line : std::exchange(socket.lines, {})) {
        EXPECT_TRUE(line.ends_with('\n'));
        line.pop_back();
        lines.push_back(std::move(line));
    }
    return lines;
}

std::map<std::string, std::string> GoldenStage::chains() {
    std::map<std::string, std::string> files;
    const auto add = [&](LedgerStore& store, const std::string& name) {
        const auto heads = store.load_heads();
        ASSERT_TRUE(heads);
        for (const auto& [tenant_id, head] : *heads) {
            files[name + "." + tenant_id.text() + ".jsonl"] = chain_text(store, tenant_id);
        }
    };
    add(world().plane_world().memory, "audit");
    add(world().relay().store().ledger(), "relay_audit");
    return files;
}

std::string golden_value(const std::string& json, const std::string& pointer) {
    const auto parsed = parse_json(json);
    EXPECT_TRUE(parsed) << pointer << " of " << json;
    const Json* value = parsed ? &*parsed : nullptr;
    std::istringstream keys(pointer);
    for (std::string key; value != nullptr && std::getline(keys, key, '.');) {
        const bool is_place = value->is_array() && !key.empty() &&
                              key.find_first_not_of("0123456789") == std::string::npos &&
                              std::stoul(key) < value->items().size();
        value = is_place ? &value->items()[std::stoul(key)] : value->find(key);
    }
    EXPECT_NE(value, nullptr) << pointer << " of " << json;
    if (value == nullptr) {
        return {};
    }
    return value->is_string() ? value->as_string() : to_text(*value);
}

}  // namespace interlock
