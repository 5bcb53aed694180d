package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Parts of lm_secflvr and of the GSS header that decide what the buffers of a
// wrapped message are.
const (
	policyPlain  = 1
	serviceNull  = 0
	gssDescBulk  = 1 // gh_flags: a bulk descriptor is there
	gssDescUser  = 2 // gh_flags: a user descriptor is there
	mechKrb5     = 1
	mechSK       = 2
	gssProcData  = 0
	gssProcInit  = 1
	gssProcCont  = 2
	gssProcError = 4
)

var (
	ghFlags = gssHeader.Field("gh_flags")
	ghProc  = gssHeader.Field("gh_proc")

	bufPlainHeader   = Sub("plain_header", plainHeader)
	bufGSSHeader     = Sub("gss_header", gssHeader)
	bufGSSReply      = Sub("gss_rep_header", gssRepHeader)
	bufGSSError      = Sub("gss_err_header", gssErrHeader)
	bufGSSInit       = Sub("gss_ctx_init_payload", gssCtxInitPayload)
	bufCipher        = Opaque("cipher", 0, "the encrypted message")
	bufSignature     = Opaque("signature", 0, "proof that the message was not changed")
	bufKrb5Cipher    = Sub("cipher", krb5Header, "the encrypted message")
	bufSKCipher      = Sub("cipher", skSealed, "the encrypted message")
	bufKrb5Signature = Sub("signature", krb5Header, "proof that the message was not changed")
	bufUserDesc      = Sub("user_desc", ptlrpcUserDesc)
	bufBulkDesc      = Sub("bulk_desc", ptlrpcBulkSecDesc)
)

// Wrapping declares the buffers that a security policy puts around a message;
// nil stands for the message itself, and for what cannot be told from the
// bytes that are there.
func Wrapping(flavor uint32, bufs [][]byte, big, reply, encrypted bool) []*Field {
	if flavor&0xf == policyPlain {
		return Bufs(bufPlainHeader, nil, bufUserDesc, bufBulkDesc)
	}
	var head []byte
	if len(bufs) > 0 {
		head = bufs[0]
	}
	if reply && len(head) < ghProc.Off+ghProc.Size {
		return nil
	}
	proc, flags := ghProc.Uint(head, big), ghFlags.Uint(head, big)
	if encrypted {
		return Bufs(gssHead(proc, reply, false), sealed(flavor))
	}
	init := proc == gssProcInit || proc == gssProcCont || reply && proc == gssProcError && len(bufs) > 2
	list := Bufs(gssHead(proc, reply, init), nil)
	if flags&gssDescUser != 0 && !init {
		list = append(list, bufUserDesc)
	}
	if flags&gssDescBulk != 0 {
		list = append(list, bufBulkDesc)
	}
	switch {
	case init && reply:
		return append(list, gssReplyToken)
	case init:
		if len(bufs) > len(list)+1 {
			list = append(list, bufUserDesc)
		}
		return append(list, bufGSSInit)
	case flavor>>8&0xf != serviceNull:
		return append(list, signature(flavor))
	}
	return list
}

// gssHead is the header that a buffer 0 has. Replies that carry data have the
// header of requests, with the number and the service of the request.
func gssHead(proc uint64, reply, init bool) *Field {
	switch {
	case !reply || proc == gssProcData:
		return bufGSSHeader
	case proc == gssProcError && !init:
		return bufGSSError
	}
	return bufGSSReply
}

// sealed is the buffer of an encrypted message, by the mechanism.
func sealed(flavor uint32) *Field {
	switch flavor >> 4 & 0xf {
	case mechKrb5:
		return bufKrb5Cipher
	case mechSK:
		return bufSKCipher
	}
	return bufCipher
}

// signature is the last buffer of a message that is signed.
func signature(flavor uint32) *Field {
	if flavor>>4&0xf == mechKrb5 {
		return bufKrb5Signature
	}
	return bufSignature
}
