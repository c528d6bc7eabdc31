// Support routines that LLVM calls where the CPU has no instruction: 16-bit floats and 128-bit division.
// A half or bfloat value travels in the low 16 bits of an SSE register, which is where a float return puts them.
#pragma once

extern "C" {
float __truncsfhf2(float value);
float __truncdfhf2(double value);
float __extendhfsf2(float value);
float __truncsfbf2(float value);
float __truncdfbf2(double value);
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
}
