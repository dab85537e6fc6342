// The rows of control decisions. Each is written under an id that its caller chose, kept for ever,
// and asked for again only when the decision is repeated. One index over all of them would be
// written at another place for every row, a page each, which was half of what a batch of decisions
// wrote.
//
// So they lie in volumes of kVolumeRows, each with its part of the index on a few pages of its own;
// a batch writes to the newest one. Which volumes may have a key is known in memory, and nearly
// always that is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/sqlite/key_filter.h"
#include "adapters/sqlite/sqlite_db.h"
#include "base/result.h"
#include "ports/ledger_store.h"

namespace interlock {

class ControlVolumes {
public:
    // The filters take four bytes a row. Past kRowsMax new rows go where others go.
    static constexpr std::int64_t kRowsMax = std::int64_t{KeyFilter::kKeysMax};

    // Reads all keys. `db` outlives this.
    static Result<std::unique_ptr<ControlVolumes>> open(
        SqliteDb& db, std::int64_t rows_max = kRowsMax);

    struct Place {
        std::int64_t volume = 0;
        StoredState state;
    };
    Result<std::optional<Place>> find(std::string_view machine_key);

    // Once a row lies elsewhere, later ones do, too: there the index finds a key that comes twice.
    bool has_room() const { return rows_ < rows_max_ && !has_overflow_; }
    // Both answer SQLite's code. The key of a new row is in no volume, and there is room.
    int insert(std::string_view machine_key, std::string_view json);
    int update(const Place& place, std::string_view machine_key, std::string_view json);

private:
    explicit ControlVolumes(std::int64_t rows_max)
        : rows_max_(rows_max), keys_(static_cast<std::size_t>(rows_max)) {}
    void note(std::int64_t volume, std::string_view machine_key);

    struct Volume {
        Volume();
        KeyFilter keys;
        std::int64_t rows = 0;  // Also those of batches that failed.
    };

    std::int64_t rows_max_;
    std::int64_t rows_ = 0;
    bool has_overflow_ = false;
    KeyFilter keys_;               // Of all volumes.
    std::vector<Volume> volumes_;  // By number.
    SqliteStatement find_;
    SqliteStatement insert_;
    SqliteStatement update_;
};

}  // namespace interlock
