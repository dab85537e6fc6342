// Being told (docs/contracts/notices.md): what people want, the tenant's webhook, and how it goes.
// Agents have no part in it.
#pragma once

#include "host/face/operation.h"
#include "host/service/notice_service.h"

namespace interlock {

void register_notice_operations(OperationTable& table, NoticeService& notices);

}  // namespace interlock
