// RFC 3161: a time-stamp server signs that some bytes were there at a time. Requests, and tokens
// that are checked against the authority somebody trusts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace interlock {

inline constexpr std::string_view kTimeStampQueryType = "application/timestamp-query";

// A TimeStampReq over SHA-256 of `bytes` that asks for the signer's certificate; DER.
struct TimeStampRequest {
    std::string der;
};
Result<TimeStampRequest> make_time_stamp_request(std::string_view bytes);

// A TimeStampResp (DER): that it was granted, is over `bytes`, and is signed by a certificate for
// time stamping that `ca_file` (PEM; empty: the system's authorities) vouched for at that time.
// With a request, that it answers this one. The signed time.
Result<Timestamp> verify_time_stamp(
    std::string_view response_der,
    std::string_view bytes,
    const std::string& ca_file,
    const TimeStampRequest* request = nullptr);

// The same without asking who signed: only that the token is over `bytes`.
Result<Timestamp> read_time_stamp(std::string_view response_der, std::string_view bytes);

}  // namespace interlock
