// Package parquet writes files of the Apache Parquet format, and reads their
// metadata. It knows the format only, not what is stored.
//
// A file consists of row groups, a row group of one chunk per leaf of the schema, a
// chunk of pages. The types of leaves and how they are stored:
//
//	Int64, Uint64, Timestamp   DELTA_BINARY_PACKED
//	Double                     PLAIN
//	Boolean                    PLAIN, 8 to a byte
//	String                     RLE_DICTIONARY; PLAIN in the rest of a chunk that has
//	                           too many different values
//
// Pages are data pages of version 1, which all readers know, compressed with zstd, and
// have a checksum. Each chunk has the number of its NULLs and its minimum and maximum
// value, each page too, in the page index; Bloom filters are made of the columns named
// in Options.
//
// # Memory
//
// A Writer holds one row group, in compressed pages: no more than 64 MB, and one row.
// Each leaf also holds the page that is being filled, encoded: no more than 16,384
// values and 1 MB, and one row. The values of a dictionary take 1 MB at most, and its
// hash table 4 MB; a Bloom filter takes 8 bytes per row of the group. The footer, which
// is written last, takes about 200 bytes per leaf and row group until then. Nothing is
// allocated per value.
package parquet
