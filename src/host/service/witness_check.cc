#include "host/service/witness_check.h"

#include <algorithm>

#include "codec/json_list.h"
#include "host/service/witness_service.h"

namespace interlock {
namespace {

class Checker {
public:
    explicit Checker(const WitnessCheck& check) : check_(check) {}

    Result<WitnessReport> run() {
        report_.name = check_.evidence.name;
        for (const WitnessLine& line : check_.evidence.lines) {
            TRY(add(line));
        }
        if (report_.seals == 0) {
            report_.fault =
                ChainFault{1, "unwitnessed", "the witness has no seal of this ledger at all"};
        }
        if (first_missing_ && !report_.fault) {
            report_.fault = fault_of(*first_missing_);
        }
        TRY_ASSIGN(const LedgerHead head, check_.store.read_head(system_tenant()));
        report_.newer_records = head.seq - (report_.newest ? report_.newest->head.seq : 0);
        return std::move(report_);
    }

private:
    struct Missing {
        WitnessedHead head;
        ChainFault fault;
    };

    Result<void> add(const WitnessLine& line) {
        auto head = read_head_line(line.text);
        if (!head) {
            ++report_.malformed;
            return {};
        }
        ++report_.seals;
        add_token(line, *head);
        TRY_ASSIGN(auto fault, disagreement_of(check_.store, *head));
        if (!fault) {
            ++report_.confirmed;
            if (!report_.newest || report_.newest->head.seq < head->head.seq) {
                report_.newest = *std::move(head);
            }
            return {};
        }
        if (head->head.seq < check_.known_break || head->at < check_.known_before) {
            ++report_.known;
            return {};
        }
        ++report_.missing;
        if (report_.missing_heads.size() < kMissingHeadsMax) {
            report_.missing_heads.push_back(short_text(head->head));
        }
        if (!first_missing_ || head->head.seq < first_missing_->head.head.seq) {
            first_missing_ = Missing{*std::move(head), *std::move(fault)};
        }
        return {};
    }

    void add_token(const WitnessLine& line, const WitnessedHead& head) {
        if (line.token.empty()) {
            return;
        }
        if (!check_.check_token) {
            ++report_.unchecked_tokens;
            return;
        }
        const auto at = check_.check_token(line);
        if (!at && !report_.fault) {
            report_.fault = ChainFault{
                head.head.seq,
                "bad_time_stamp",
                "the token beside seal " + short_text(head.head) + ": " + at.error().message};
        }
        if (at) {
            ++report_.time_stamps;
            report_.proven_at = std::max(report_.proven_at.value_or(*at), *at);
        }
    }

    // Nothing of it is ours, and it is signed by keys that are not: the folder has other keys.
    ChainFault fault_of(const Missing& missing) const {
        const WitnessedHead& head = missing.head;
        const bool is_foreign = head.epoch <= check_.keys.last_epoch() &&
                                !check_.keys.holds(head.epoch, head.public_key);
        if (report_.confirmed > 0 || !is_foreign) {
            return missing.fault;
        }
        return ChainFault{
            head.head.seq,
            "wrong_key",
            "the seals of the witness are signed by keys that do not follow from ledger.pub: it "
            "was replaced, or this is another folder"};
    }

    const WitnessCheck& check_;
    WitnessReport report_;
    std::optional<Missing> first_missing_;
};

}  // namespace

Json encode(const WitnessReport& report) {
    return Json::object({
        {"name", report.name},
        {"ok", report.ok()},
        {"seals", report.seals},
        {"confirmed", report.confirmed},
        {"missing", report.missing},
        {"missing_heads", json_list(report.missing_heads)},
        {"known_missing", report.known},
        {"malformed", report.malformed},
        {"time_stamps", report.time_stamps},
        {"unchecked_tokens", report.unchecked_tokens},
        {"newest_seq", report.newest ? Json(report.newest->head.seq) : Json()},
        {"newest_hash", report.newest ? Json(report.newest->head.hash) : Json()},
        {"newest_at", report.newest ? Json(to_text(report.newest->at)) : Json()},
        {"proven_at", report.proven_at ? Json(to_text(*report.proven_at)) : Json()},
        {"newer_records", report.newer_records},
        {"problem", report.fault ? Json(report.fault->reason) : Json()},
        {"first_bad_seq", report.fault ? Json(report.fault->seq) : Json()},
        {"detail", report.fault ? Json(report.fault->detail) : Json()},
    });
}

std::string describe(const WitnessReport& report) {
    if (report.fault) {
        std::string text = report.fault->reason + " at record " +
                           std::to_string(report.fault->seq) + " of _system (" +
                           report.fault->detail + ")";
        if (report.missing > 0) {
            text += "; missing:";
            for (const std::string& head : report.missing_heads) {
                text += " " + head;
            }
            if (static_cast<std::size_t>(report.missing) > report.missing_heads.size()) {
                text += " and " +
                        std::to_string(report.missing - std::ssize(report.missing_heads)) + " more";
            }
        }
        return text;
    }
    std::string text = "has " + std::to_string(report.seals) + " seals, all in the chain";
    if (report.known > 0) {
        text += " but " + std::to_string(report.known) + " behind an accepted break";
    }
    if (report.newest) {
        text +=
            ", the newest " + short_text(report.newest->head) + " of " + to_text(report.newest->at);
    }
    text += "; " + std::to_string(report.newer_records) + " records of _system are newer";
    if (report.time_stamps > 0) {
        text += "; " + std::to_string(report.time_stamps) + " time stamps hold, the newest of " +
                to_text(*report.proven_at);
    }
    return text;
}

Result<WitnessReport> check_witness(const WitnessCheck& check) {
    return Checker(check).run();
}

AnchorReport check_anchor(const WitnessEvidence& evidence, const std::string& anchor_hash) {
    if (anchor_hash.empty()) {
        return {{}, "the file names no seal of _system that a witness could know"};
    }
    for (const WitnessLine& line : evidence.lines) {
        auto head = read_head_line(line.text);
        if (head && head->head.hash == anchor_hash) {
            return {*std::move(head), ""};
        }
    }
    return {{}, "the witness does not have the seal of _system that the file names"};
}

}  // namespace interlock
