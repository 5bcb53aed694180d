package anonymize

import "golang.org/x/crypto/scrypt"

// KeySize is the size of a random key in bytes.
const KeySize = 32

// KeyOf returns the key for a secret. It takes 32 MiB of memory and a tenth of a
// second, so that short secrets cannot be found by trying many.
func KeyOf(secret []byte) ([]byte, error) {
	const cost, blockSize, parallel = 1 << 15, 8, 1
	// A salt would give the captures of a site different replacements.
	return scrypt.Key(secret, []byte("lshark anonymize"), cost, blockSize, parallel, KeySize)
}
