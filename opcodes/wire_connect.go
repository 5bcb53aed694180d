package opcodes

// The fields of obd_connect_data that connections are followed by.
var (
	OcdFlags    = obdConnectData.Field("ocd_connect_flags")
	OcdFlags2   = obdConnectData.Field("ocd_connect_flags2")
	OcdVersion  = obdConnectData.Field("ocd_version")
	OcdInstance = obdConnectData.Field("ocd_instance")
)

// LockHandles is the array of lock handles in an ldlm_request.
var LockHandles = ldlmRequest.Field("lock_handle")
