// Rows of one kind, as the lane sees them: what it has changed and not yet committed is there too.
//
// A table either holds all its rows (loaded at start) or reads them when asked and keeps the last
// few. Its memory of a lazy table is bounded by `held_max`, which must exceed what one batch can
// touch.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "relay/ports/relay_store.h"
#include "relay/service/relay_lane.h"
#include "relay/wire/relay_rows.h"

namespace interlock {

inline constexpr std::int64_t kRelayRowsPage = 1000;

template <class Row>
class RelayTable {
public:
    enum class Hold { all, recent };

    RelayTable(RelayStore& store, Hold hold, std::size_t held_max = 16'384)
        : store_(store), hold_(hold), held_max_(held_max) {}

    // For tables that hold all.
    Result<void> load() {
        std::string after;
        while (true) {
            TRY_ASSIGN(auto page, store_.read_rows(Row::kKind, "", after, kRelayRowsPage));
            for (RelayRow& stored : page) {
                TRY_ASSIGN(Row row, decode_row<Row>(stored.json));
                after = stored.key;
                held_[std::move(stored.key)] = Held{std::move(row), stored.expires_at};
            }
            if (page.size() < static_cast<std::size_t>(kRelayRowsPage)) {
                return {};
            }
        }
    }

    // Null when there is none, or it has expired. Valid until the table is next used.
    Result<const Row*> find(const std::string& key, Timestamp now) {
        auto found = held_.find(key);
        if (found == held_.end()) {
            if (hold_ == Hold::all) {
                return static_cast<const Row*>(nullptr);
            }
            TRY_ASSIGN(auto stored, store_.find_row(Row::kKind, key));
            Held held;
            if (stored) {
                TRY_ASSIGN(held.row, decode_row<Row>(stored->json));
                held.expires_at = stored->expires_at;
            }
            found = keep(key, std::move(held));
        }
        const Held& held = found->second;
        const bool is_there = held.row && !(held.expires_at && *held.expires_at <= now);
        return is_there ? &*held.row : nullptr;
    }
    // The same for a table that holds all, where nothing can fail.
    const Row* get(const std::string& key) const {
        const auto found = held_.find(key);
        return found == held_.end() || !found->second.row ? nullptr : &*found->second.row;
    }

    // When a row that find() has just given ends; nothing: never.
    std::optional<Timestamp> expiry_of(const std::string& key) const {
        const auto found = held_.find(key);
        return found == held_.end() ? std::nullopt : found->second.expires_at;
    }

    void put(
        RelayTurn& turn,
        const std::string& key,
        Row row,
        std::optional<Timestamp> expires_at = std::nullopt) {
        turn.rows().rows.push_back(
            {std::string(Row::kKind), key, encode_row(row), expires_at, false});
        keep(key, Held{std::move(row), expires_at});
    }
    void erase(RelayTurn& turn, const std::string& key) {
        turn.rows().rows.push_back(
            {std::string(Row::kKind), key, std::nullopt, std::nullopt, false});
        if (hold_ == Hold::all) {
            held_.erase(key);
        } else {
            keep(key, Held{});
        }
    }

    template <class Call>
    void for_each(Call&& call) const {  // Of a table that holds all.
        for (const auto& [key, held] : held_) {
            if (held.row) {
                call(key, *held.row);
            }
        }
    }
    std::size_t held() const { return held_.size(); }

private:
    struct Held {
        std::optional<Row> row;  // Nothing: known to be absent.
        std::optional<Timestamp> expires_at;
    };
    using Map = std::unordered_map<std::string, Held>;

    typename Map::iterator keep(const std::string& key, Held held) {
        const auto [at, is_new] = held_.insert_or_assign(key, std::move(held));
        if (hold_ == Hold::recent && is_new) {
            order_.push_back(key);
            while (order_.size() > held_max_) {
                held_.erase(order_.front());
                order_.pop_front();
            }
            return held_.find(key);
        }
        return at;
    }

    RelayStore& store_;
    const Hold hold_;
    const std::size_t held_max_;
    Map held_;
    std::deque<std::string> order_;  // Of a lazy table, in the order of first use.
};

}  // namespace interlock
