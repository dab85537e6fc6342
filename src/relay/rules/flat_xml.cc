#include "relay/rules/flat_xml.h"

#include "base/text.h"

namespace interlock {
namespace {

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

std::optional<std::string> with_entities(std::string_view text) {
    static constexpr std::pair<std::string_view, char> kEntities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] != '&') {
            out += text[at++];
            continue;
        }
        bool is_known = false;
        for (const auto& [entity, character] : kEntities) {
            if (text.substr(at).starts_with(entity)) {
                out += character;
                at += entity.size();
                is_known = true;
                break;
            }
        }
        if (!is_known) {
            return std::nullopt;
        }
    }
    return out;
}

class XmlReader {
public:
    explicit XmlReader(std::string_view text) : text_(text) {}

    bool read_document(std::map<std::string, std::string>& children) {
        skip_space();
        if (text_.starts_with("<?xml") && !skip_past("?>")) {
            return false;
        }
        skip_space();
        std::string ignored;
        if (!read_element(0, ignored, &children)) {
            return false;
        }
        skip_space();
        return text_.empty();
    }

private:
    void skip_space() {
        const std::size_t at = text_.find_first_not_of(" \t\r\n");
        text_.remove_prefix(std::min(at, text_.size()));
    }

    bool skip_past(std::string_view mark) {
        const std::size_t at = text_.find(mark);
        if (at == std::string_view::npos) {
            return false;
        }
        text_.remove_prefix(at + mark.size());
        return true;
    }

    bool take(std::string_view mark) {
        if (!text_.starts_with(mark)) {
            return false;
        }
        text_.remove_prefix(mark.size());
        return true;
    }

    std::string_view take_name() {
        std::size_t length = 0;
        while (length < text_.size() && is_name_character(text_[length])) {
            ++length;
        }
        const std::string_view name = text_.substr(0, length);
        text_.remove_prefix(length);
        return name;
    }

    // Text and CDATA up to the next tag.
    bool read_text(std::string& out) {
        while (!text_.empty() && (text_.front() != '<' || text_.starts_with("<![CDATA["))) {
            if (take("<![CDATA[")) {
                const std::size_t end = text_.find("]]>");
                if (end == std::string_view::npos) {
                    return false;
                }
                out += text_.substr(0, end);
                text_.remove_prefix(end + 3);
                continue;
            }
            const std::size_t end = std::min(text_.find('<'), text_.size());
            const auto plain = with_entities(text_.substr(0, end));
            if (!plain) {
                return false;
            }
            out += *plain;
            text_.remove_prefix(end);
        }
        return true;
    }

    bool read_element(
        std::size_t depth, std::string& name_out, std::map<std::string, std::string>* children) {
        if (depth > kXmlDepthMax || ++elements_ > kXmlElementsMax || !take("<")) {
            return false;
        }
        name_out = take_name();
        if (name_out.empty()) {
            return false;
        }
        last_text_.clear();
        if (take("/>")) {
            return true;
        }
        return take(">") && read_content(depth, name_out, children);
    }

    bool read_content(
        std::size_t depth, const std::string& name, std::map<std::string, std::string>* children) {
        std::string content;
        bool has_elements = false;
        while (read_text(content)) {
            if (take("</")) {
                if (take_name() != name || !take(">")) {
                    return false;
                }
                last_text_ = has_elements ? std::string() : std::move(content);
                return true;
            }
            std::string child;
            if (!read_element(depth + 1, child, nullptr)) {
                return false;
            }
            has_elements = true;
            if (children != nullptr && !children->emplace(child, last_text_).second) {
                return false;
            }
        }
        return false;
    }

    std::string_view text_;
    std::string last_text_;  // Of the element that was read last.
    std::size_t elements_ = 0;
};

}  // namespace

std::optional<std::map<std::string, std::string>> read_flat_xml(std::string_view text) {
    std::map<std::string, std::string> children;
    if (!XmlReader(text).read_document(children)) {
        return std::nullopt;
    }
    return children;
}

}  // namespace interlock
