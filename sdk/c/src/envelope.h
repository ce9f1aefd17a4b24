/* What an envelope is packed from, as members of a body. */
#ifndef MSI_ENVELOPE_H
#define MSI_ENVELOPE_H

#include "body.h"

void msi_envelope_put(struct msi_body *b, const ms_envelope *envelope);
/* How it is delivered: what send takes, and `then` of a completion. */
void msi_delivery_put(struct msi_body *b, const ms_delivery *delivery);

#endif
