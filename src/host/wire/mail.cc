#include "host/wire/mail.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/json.h"

namespace interlock {
namespace {

constexpr std::size_t kLocalBytesMax = 64;
constexpr std::size_t kLabelBytesMax = 63;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Parts between dots, none of them empty; RFC 5321 without its quoted forms.
bool is_local_part(std::string_view text) {
    constexpr std::string_view kAlsoAllowed = "!#$%&'*+-/=?^_`{|}~.";
    return !text.empty() && text.size() <= kLocalBytesMax && text.front() != '.' &&
           text.back() != '.' && text.find("..") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return is_letter_or_digit(c) || kAlsoAllowed.find(c) != std::string_view::npos;
           });
}

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= kLabelBytesMax && text.front() != '-' &&
           text.back() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) || c == '-';
           });
}

bool is_host(std::string_view text) {
    while (true) {
        const std::size_t dot = text.find('.');
        if (!is_label(text.substr(0, dot))) {
            return false;
        }
        if (dot == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(dot + 1);
    }
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

}  // namespace

bool is_mail_address(std::string_view text) {
    const std::size_t at = text.find('@');
    return text.size() <= kMailAddressBytesMax && at != std::string_view::npos &&
           is_local_part(text.substr(0, at)) && is_host(text.substr(at + 1));
}

Result<void> check_mail(const Mail& mail) {
    std::vector<FieldProblem> problems;
    if (!is_mail_address(mail.to)) {
        problems.push_back({"to", "must be one plain e-mail address"});
    }
    if (mail.subject.empty() || mail.subject.size() > kMailSubjectBytesMax ||
        has_control(mail.subject) || !is_valid_utf8(mail.subject)) {
        problems.push_back({"subject", "must be one line of 1 to 200 bytes of UTF-8"});
    }
    if (mail.text.size() > kMailTextBytesMax || !is_valid_utf8(mail.text) ||
        mail.text.find('\0') != std::string::npos) {
        problems.push_back({"text", "must be UTF-8 without NUL, at most 64 KiB"});
    }
    if (problems.empty()) {
        return {};
    }
    auto refusal = fail(errors::invalid_request, "This letter cannot be sent.");
    refusal.error().problems = std::move(problems);
    return refusal;
}

}  // namespace interlock
