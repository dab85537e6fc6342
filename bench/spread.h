// What the rounds of a benchmark gave: the median stands in the row, and beside it, by the name of
// its field, the least and the most. A number without its range says little about the next machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "bench/latency.h"
#include "bench/rounded.h"

namespace interlock {

struct Spread {
    double median = 0;
    double min = 0;
    double max = 0;
    std::int64_t runs = 0;
};

template <class T>
Spread spread_of(const std::vector<T>& values) {
    if (values.empty()) {
        return {};
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return {
        .median = static_cast<double>(median_of(values)),
        .min = static_cast<double>(*least),
        .max = static_cast<double>(*most),
        .runs = std::ssize(values)};
}

// The spreads of one row.
class Spreads {
public:
    // Keeps the range of what the rounds gave for a field, to be written with so many digits after
    // the point, and gives the median. Without values there is no range.
    template <class T>
    T note(std::string field, const std::vector<T>& values, int digits = 0) {
        if (!values.empty()) {
            list_.push_back({std::move(field), spread_of(values), digits});
        }
        return median_of(values);
    }

    // `<field>_min` and `<field>_max` of every field, and `runs`.
    void write(Json& row) const {
        std::int64_t runs = 0;
        for (const Noted& one : list_) {
            row.set(one.field + "_min", rounded(one.spread.min, one.digits));
            row.set(one.field + "_max", rounded(one.spread.max, one.digits));
            runs = std::max(runs, one.spread.runs);
        }
        row.set("runs", runs);
    }

    // Of a field that was noted; all zero for another one.
    Spread of(const std::string& field) const {
        for (const Noted& one : list_) {
            if (one.field == field) {
                return one.spread;
            }
        }
        return {};
    }

private:
    struct Noted {
        std::string field;
        Spread spread;
        int digits = 0;
    };
    std::vector<Noted> list_;
};

// `a` against `b`, round by round, as long as both were measured.
inline std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (b[i] > 0) {
            ratios.push_back(a[i] / b[i]);
        }
    }
    return ratios;
}

}  // namespace interlock
