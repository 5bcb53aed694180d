package ib

import "github.com/google/gopacket"

// The types of the layers. gopacket knows their names after Register.
const (
	LayerTypeTransport gopacket.LayerType = 4791 + iota
	LayerTypeBTH
	LayerTypeRDETH
	LayerTypeDETH
	LayerTypeXRCETH
	LayerTypeFETH
	LayerTypeRETH
	LayerTypeAtomicETH
	LayerTypeAETH
	LayerTypeAtomicAckETH
	LayerTypeImmDt
	LayerTypeIETH
	LayerTypeGRH
	LayerTypeLRH
)
