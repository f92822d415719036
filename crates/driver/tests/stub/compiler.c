// An NVRTC that takes any text and makes nothing of it, for the stub of the driver to load.
#include <string.h>

int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 4, 0; }
int nvrtcGetNumSupportedArchs(int* count) { return *count = 1, 0; }
int nvrtcGetSupportedArchs(int* list) { return list[0] = 90, 0; }
int nvrtcCreateProgram(void** program, const char* text, const char* name, int count, const char** texts, const char** names) {
    return *program = (void*)16, 0;
}
int nvrtcDestroyProgram(void** program) { return 0; }
int nvrtcCompileProgram(void* program, int count, const char** options) { return 0; }
int nvrtcGetProgramLogSize(void* program, unsigned long* bytes) { return *bytes = 1, 0; }
int nvrtcGetProgramLog(void* program, char* log) { return log[0] = 0; }
int nvrtcGetCUBINSize(void* program, unsigned long* bytes) { return *bytes = 4, 0; }
int nvrtcGetCUBIN(void* program, char* image) { return memcpy(image, "code", 4), 0; }
int nvrtcGetPTXSize(void* program, unsigned long* bytes) { return *bytes = 5, 0; }
int nvrtcGetPTX(void* program, char* image) { return memcpy(image, "code", 5), 0; }
