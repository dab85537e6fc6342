#include "app/command/command.h"

#include <iostream>

#include "base/errors.h"
#include "codec/error_json.h"

namespace interlock {

ExitCode report(const GlobalOptions& global, const Error& error) {
    if (global.json) {
        std::cerr << to_text(encode_error_body(error)) << "\n";
    } else {
        std::cerr << "interlock: " << error.message << " [" << error.code() << "]\n";
        for (const FieldProblem& problem : error.problems) {
            std::cerr << "  " << problem.path << ": " << problem.problem << "\n";
        }
        std::cerr << "  " << error.next() << "\n";
    }
    const bool environment = error == errors::invalid_config || error == errors::io_failed ||
                             error == errors::corrupt_data || error == errors::crypto_failed;
    return environment ? ExitCode::environment : ExitCode::refused;
}

}  // namespace interlock
