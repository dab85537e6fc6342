// How gates write down their breaches; the class is in gate_list.h.
#include "loop/rules/gates/gate_list.h"

namespace interlock {

void GateNotes::add(std::string_view code, const Symbol& symbol, std::string detail) {
    add(code, symbol, std::move(detail), {});
}

void GateNotes::add(
    std::string_view code, const Symbol& symbol, std::string detail, std::string extra) {
    for (std::size_t i = first_; i < breaches_.size(); ++i) {
        const Breach& noted = breaches_[i];
        if (noted.code == code && noted.symbol == symbol && noted.extra == extra) {
            return;
        }
    }
    breaches_.push_back({gate_, code, symbol, std::move(extra), std::move(detail)});
}

void GateNotes::add_overflow(const Symbol& symbol) {
    add(breach_codes::kArithmeticOverflow, symbol, "a number left the range of exact decimals");
}

void note_fill_problems(const PlanScratch& scratch, GateNotes& notes) {
    for (const IntentScratch& intent : scratch.intents) {
        const Symbol& symbol = intent.intent->symbol;
        switch (intent.problem) {
            case FillProblem::none:
                break;
            case FillProblem::malformed:
                notes.add(
                    breach_codes::kMalformedIntent,
                    symbol,
                    "quantity or price of " + intent.intent->intent_id.text() +
                        " is missing or not positive");
                break;
            case FillProblem::price_unknown:
                notes.add(
                    breach_codes::kPriceUnknown, symbol, "no price to estimate the fill with");
                break;
            case FillProblem::overflow:
                notes.add_overflow(symbol);
                break;
        }
    }
    if (scratch.overflowed) {
        notes.add_overflow({});
    }
}

std::string sentence(
    std::string_view what, Decimal found, std::string_view relation, Decimal limit) {
    std::string text(what);
    text += ' ';
    text += to_text(found);
    text += ' ';
    text += relation;
    text += ' ';
    text += to_text(limit);
    return text;
}

}  // namespace interlock
