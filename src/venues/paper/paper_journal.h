// The paper exchange's journal: one line per change, from which the exchange is rebuilt and an
// outsider can read the venue's truth. docs/contracts/paper-venue.md describes the lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "venues/paper/journal_file.h"
#include "venues/paper/paper_exchange.h"
#include "venues/paper/paper_recorder.h"

namespace interlock {

class PaperJournal final : public PaperRecorder {
public:
    // Rebuilds `exchange`, which is new and outlives the journal, and records it from then on.
    static Result<std::unique_ptr<PaperJournal>> open(
        const std::string& path, PaperExchange& exchange);
    ~PaperJournal() override;

    void on_opened(const VenueAccount& account, std::span<const VenueBalance> balances) override;
    void on_accepted(const VenueAccount& account, const VenueOrder& order) override;
    void on_filled(const VenueAccount& account, const VenueFill& fill) override;
    void on_ended(const VenueAccount& account, const VenueOrder& order) override;

    // Writes what was recorded since the last call as one batch.
    Result<void> commit();
    // A new journal with everything the exchange still keeps, in place of the old one.
    Result<void> compact();
    std::int64_t size() const { return file_->size(); }
    Result<void> sync(std::int64_t size) { return file_->sync(size); }

private:
    explicit PaperJournal(PaperExchange& exchange) : exchange_(exchange) {}
    Json market_line() const;

    PaperExchange& exchange_;
    std::unique_ptr<JournalFile> file_;
    std::vector<Json> batch_;
};

}  // namespace interlock
