#include "adapters/sqlite/control_volumes.h"

#include "adapters/sqlite/turn_sql.h"

namespace interlock {

ControlVolumes::Volume::Volume() : keys(static_cast<std::size_t>(turn_sql::kVolumeRows)) {}

Result<std::unique_ptr<ControlVolumes>> ControlVolumes::open(SqliteDb& db, std::int64_t rows_max) {
    std::unique_ptr<ControlVolumes> made(new ControlVolumes(rows_max));
    TRY_ASSIGN(
        made->find_,
        db.prepare("SELECT version, json FROM control_state "
                   "WHERE volume = ?1 AND machine_key = ?2"));
    TRY_ASSIGN(made->insert_, db.prepare(turn_sql::kInsertControl));
    TRY_ASSIGN(made->update_, db.prepare(turn_sql::kUpdateControl));
    TRY_ASSIGN(
        const std::int64_t elsewhere,
        db.read_integer("SELECT EXISTS (SELECT 1 FROM machine_state "
                        "WHERE machine_key >= 'control/' AND machine_key < 'control0')"));
    made->has_overflow_ = elsewhere != 0;
    TRY_ASSIGN(
        SqliteStatement all,
        db.prepare("SELECT volume, machine_key FROM control_state ORDER BY volume, machine_key"));
    SqliteRows rows = all.query();
    while (true) {
        TRY_ASSIGN(const bool found, rows.next());
        if (!found) {
            return made;
        }
        made->note(rows.integer(0), rows.text(1));
    }
}

void ControlVolumes::note(std::int64_t volume, std::string_view machine_key) {
    while (std::ssize(volumes_) <= volume) {
        volumes_.emplace_back();
    }
    Volume& noted = volumes_[static_cast<std::size_t>(volume)];
    noted.keys.add(machine_key);
    ++noted.rows;
    keys_.add(machine_key);
    ++rows_;
}

Result<std::optional<ControlVolumes::Place>> ControlVolumes::find(std::string_view machine_key) {
    if (!keys_.may_have(machine_key)) {
        return std::nullopt;
    }
    for (std::int64_t volume = std::ssize(volumes_) - 1; volume >= 0; --volume) {
        if (!volumes_[static_cast<std::size_t>(volume)].keys.may_have(machine_key)) {
            continue;
        }
        SqliteRows rows = find_.query(volume, machine_key);
        TRY_ASSIGN(const bool found, rows.next());
        if (found) {
            return Place{volume, {rows.integer(0), rows.text(1)}};
        }
    }
    return std::nullopt;
}

int ControlVolumes::insert(std::string_view machine_key, std::string_view json) {
    const bool is_full = volumes_.empty() || volumes_.back().rows >= turn_sql::kVolumeRows;
    const std::int64_t volume = std::ssize(volumes_) - (is_full ? 0 : 1);
    note(volume, machine_key);
    return insert_.run(volume, machine_key, json);
}

int ControlVolumes::update(
    const Place& place, std::string_view machine_key, std::string_view json) {
    return update_.run(place.volume, machine_key, place.state.version, json);
}

}  // namespace interlock
