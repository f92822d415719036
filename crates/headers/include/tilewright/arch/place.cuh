// A last parameter that holds the caller's line, for the host model's messages. On the GPU there is none.
#pragma once

#ifdef TILEWRIGHT_HOST
#define TW_PLACE , ::tw::host::Place place = ::tw::host::Place::here()
#define TW_SAME_PLACE , place
#else
#define TW_PLACE
#define TW_SAME_PLACE
#endif
