package lnet

// MinSnaplen is the number of bytes that a capture has to keep of a frame for
// the headers of one message, in the usual case: Ethernet, IPv4, TCP with a
// time stamp, socklnd and LNet.
const MinSnaplen = ethernetSize + ipv4Size + tcpTimeStampSize + ksockSize + lnet4Size

const tcpTimeStampSize = tcpSize + 12
