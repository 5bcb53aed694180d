package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_INIT, Name: "SEC_CTX_INIT",
	Doc:      "Begins to set up a security context under GSS. The token of the security mechanism stands in the wrapping of the message, behind it.",
	Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_INIT_CONT, Name: "SEC_CTX_INIT_CONT",
	Doc:      "Goes on with setting up a security context, for mechanisms that need more than one exchange.",
	Variants: bodyOnly})

var _ = DefineRPC(&RPC{Opcode: SEC_CTX_FINI, Name: "SEC_CTX_FINI", OneWay: true,
	Doc:      "Takes a security context down. The server does not answer.",
	Variants: bodyOnly})
