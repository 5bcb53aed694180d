// Package opcodes is the protocol as data: the operations of ptlrpc, the
// buffers of their requests and replies, the structs that fill the buffers,
// the fields of the structs, and the names of values and flags. All that a
// user sees comes from these declarations: trees, JSON keys, filter names,
// explanations.
//
// A field is part of a struct; a struct, a string, an array or a union fills a
// buffer; an RPC is a list of request buffers and a list of reply buffers, in
// one or more variants. What needs code, such as a union whose member is
// selected by a magic number, is a small func beside the table; it gets a View of
// the bytes and reads them through the field declarations.
//
// The vocabulary of the declarations, and the code that reads bytes by them, is
// package schema. It is imported with a dot here, and only here, because the
// files of this package are tables: Sub("mdt_body", &mdtBody) is read as a line
// of a table, and a package name in front of each word would hide it.
//
// The structs, fields and names are variables that the linker places as data: nothing
// makes them at the start of the program, which then only computes offsets. So a field is
// declared with constants, variables and literals only as arguments of U64, Sub and the like. DefineRPC and DefineIntent register
// operations in Protocol, from which the other packages take them and all that
// their buffers refer to. A message is declared in the
// file of its service; docs/adding-a-message.md has all that belongs to one. In short:
//
//	var fooBody = &Struct{Name: "foo_body", Doc: "what a foo is about", Fields: []*Field{
//		U64("fb_valid", &FooValid, "which of the fields below mean something"),
//		Sub("fb_fid", &LuFid, When{"fb_valid", "FID"}, "the file"),
//		U64("fb_size", Size, When{"fb_valid", "SIZE"}, "its size"),
//	}}
//
//	var _ = DefineRPC(&RPC{Opcode: 99, Name: "OST_FOO", Doc: "Requests a foo.", Variants: []*Variant{{
//		Request: Bufs(bufPtlrpcBody, Sub("foo_body", &fooBody)),
//		SummarizeRequest: summarizeFoo,
//	}}})
package opcodes
