// Package filter is the display filter: text such as
//
//	pb_opc == MDS_CONNECT && ocd_connect_flags.GRANT
//	lnet.src_nid == 192.0.2.0/24@tcp and pb_status == ENOENT
//	name contains "tmp" or pb_opc in {OST_READ, OST_WRITE}
//
// becomes a closure over the fields of messages. The syntax is Wireshark's; the
// names are those of the wire, checked when the filter is compiled. A filter
// that asks only for what every message carries at a fixed place never builds a
// tree.
//
// A comparison with a field that the message does not have is false, with !=
// too; not X is true for every message that X is false for; a bare name asks
// whether the field is there, name.BIT whether a flag is set. A field that
// occurs more than once matches when one of its values does.
package filter
