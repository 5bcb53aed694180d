// Package schema is the language in which a wire protocol is declared, and the
// code that reads bytes by such declarations. It contains no declaration of
// Lustre's protocol; those are in package opcodes.
//
// # Declarations
//
// A Field is part of a Struct, or fills one buffer of a message. Constructors
// such as U32, Str, Sub, Arr and OneOf declare fields; a Struct has fields, and Resolve
// computes their offsets. Enum and Bits give names to the values or
// the bits of a field. An RPC is an operation: for each of its variants the
// buffers of the request and of the reply.
//
// What needs code, such as a union whose member is selected by a magic number,
// is a small func beside the declaration. It gets a View of the struct and
// reads fields by their declarations.
//
// A Registry collects the declarations of a protocol. Its Index finds them by
// name.
//
// # Reading
//
// Field.Uint and Field.Bytes read one field of a struct. Bytes that were not
// captured read as zero, or as nil. Field.Valid reports whether the flags in
// the struct give the field a meaning.
//
// A Msg is a message whose buffers are known, a Line the summary that the
// funcs of an RPC write about it.
package schema
