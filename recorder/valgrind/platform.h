/* What Valgrind's headers want to know of the machine that a tool is built for. Included before all of them. */
#ifndef RECORDER_VALGRIND_PLATFORM_H
#define RECORDER_VALGRIND_PLATFORM_H

#define VGA_amd64 1
#define VGO_linux 1
#define VGP_amd64_linux 1
#define VGPV_amd64_linux_vanilla 1

#endif
