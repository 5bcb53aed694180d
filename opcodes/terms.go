package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// terms are words that Lustre's developers use and that are not names of the protocol.
var terms = []*Term{
	{Name: "ACL", Long: "access control list", Doc: "Permissions of a file beyond those of owner, group and others. Clients get them with " +
		"the attributes of the file.",
		See: []string{"OBD_CONNECT_ACL", "OBD_MD_FLACL", "posix_acl_xattr_header", "mbo_aclsize"}},
	{Name: "AST", Long: "asynchronous system trap", Doc: "A callback of the lock manager: a server sends it to the holder of a lock. A " +
		"blocking AST requests the release of " +
		"the lock, a completion AST grants a lock that had to wait, a glimpse AST requests size and times.",
		See: []string{"LDLM_BL_CALLBACK", "LDLM_CP_CALLBACK", "LDLM_GL_CALLBACK"}},
	{Name: "AT", Long: "adaptive timeouts", Doc: "Servers report how long their requests take, and clients wait accordingly. A server that " +
		"needs longer sends an early reply.",
		See: []string{"OBD_CONNECT_AT", "pb_timeout", "pb_service_time", "MSGHDR_AT_SUPPORT"}},
	{Name: "BL", Long: "blocking callback", Doc: "The server requests that the holder of a lock release it, since another node has " +
		"requested a lock that conflicts with it.",
		See: []string{"LDLM_BL_CALLBACK"}},
	{Name: "BRW", Long: "bulk read and write", Doc: "OST_READ and OST_WRITE: a list of ranges of objects, whose data are transferred as " +
		"bulk data beside the request.",
		See: []string{"OST_READ", "OST_WRITE", "obd_ioobj", "niobuf_remote", "ocd_brw_size"}},
	{Name: "BUT", Long: "batch update", Doc: "The requests and replies inside an MDS_BATCH.",
		See: []string{"MDS_BATCH", "BUT_GETATTR", "but_update_header"}},
	{Name: "CLIO", Long: "client I/O", Doc: "The part of the client that turns reads and writes of files into those of objects. On the wire it is " +
		"visible as BRW requests and extent locks.", See: []string{"OST_READ", "OST_WRITE", "ldlm_extent"}},
	{Name: "COS", Long: "commit on sharing", Doc: "A server commits a change to disk before another client can depend on it, so that " +
		"recovery does not need the first client.",
		See: []string{"LCK_COS", "LDLM_FL_COS_INCOMPAT", "LDLM_FL_COS_ENABLED"}},
	{Name: "CP", Long: "completion callback", Doc: "The server grants a lock that had to wait. The enqueue itself was answered before, " +
		"without the lock.",
		See: []string{"LDLM_CP_CALLBACK", "LDLM_FL_BLOCK_WAIT", "l_granted_mode"}},
	{Name: "CT", Long: "copytool", Doc: "The program that moves files between Lustre and an HSM archive. It registers with each MDT and " +
		"gets its requests from there.",
		See: []string{"MDS_HSM_CT_REGISTER", "MDS_HSM_PROGRESS", "hsm_action_item"}},
	{Name: "LDLM", Long: "Lustre distributed lock manager, also DLM", Doc: "Grants locks on files, parts of files and names to nodes, and " +
		"revokes them. Each target manages the locks of its own objects.",
		See: []string{"LDLM_ENQUEUE", "LDLM_CANCEL", "ldlm_mode", "ldlm_type"}},
	{Name: "DNE", Long: "distributed namespace environment", Doc: "One file system has several MDTs. Directories can be on any of them, or " +
		"be striped over several; the MDTs change " +
		"such directories together, by OUT_UPDATE.", See: []string{"OUT_UPDATE", "lmv_mds_md_v1", "lmv_user_md_v1", "OBD_CONNECT_DIR_STRIPE"}},
	{Name: "DoM", Long: "data on MDT", Doc: "The first component of a file is on the MDT, so that small files need no OST. An open can " +
		"return the data at once.",
		See: []string{"LOV_PATTERN_MDT", "MDS_INODELOCK_DOM", "OBD_MD_DOM_SIZE", "mbo_dom_size", "niobuf_inline"}},
	{Name: "EA", Long: "extended attribute, xattr", Doc: "A named value of a file. Lustre keeps layouts, FIDs, HSM state and other things " +
		"of its own in attributes named trusted.*.",
		See: []string{"MDS_GETXATTR", "XATTR_NAME_LOV", "XATTR_NAME_LMA", "mbo_eadatasize"}},
	{Name: "EC", Long: "erasure coding", Doc: "Parity from which lost stripes of a file can be computed. It is in components of its own, " +
		"as in a layout with mirrors.",
		See: []string{"LCME_FL_PARITY", "lcme_flags"}},
	{Name: "ELC", Long: "early lock cancel", Doc: "A client cancels its own locks in the request that conflicts with them, which saves a " +
		"blocking callback for each: the request has a list of lock handles.",
		See: []string{"lock_count", "OBD_CONNECT_CANCELSET", "dlm_req"}},
	{Name: "FID", Long: "file identifier", Doc: "Sequence, object number and version: identifies an object of the file system; never used " +
		"again for another one.",
		See: []string{"lu_fid", "fid_seq", "SEQ_QUERY", "FLD_QUERY"}},
	{Name: "FLD", Long: "FID location database", Doc: "Maps each sequence of FIDs to the target that has its objects. Clients and servers " +
		"query the MDTs for it.",
		See: []string{"FLD_QUERY", "FLD_READ", "lu_seq_range"}},
	{Name: "FLR", Long: "file level redundancy", Doc: "A file has mirrors: components of its layout that hold the same data. A write makes " +
		"the other mirrors stale until they are resynchronised.",
		See: []string{"OBD_CONNECT2_FLR", "lov_comp_md_v1", "lcm_mirror_count", "lcm_flags", "lcme_flags", "REINT_RESYNC"}},
	{Name: "GL", Long: "glimpse", Doc: "A request for the size and times of an object that another client may be writing: the server sends " +
		"a callback to the holder of the lock with the highest range.",
		See: []string{"LDLM_GL_CALLBACK", "ost_lvb", "LDLM_FL_HAS_INTENT"}},
	{Name: "GSS", Long: "generic security service", Doc: "Authenticates nodes and users by Kerberos or shared keys, and signs or encrypts " +
		"messages. A security context is set up first.",
		See: []string{"SEC_CTX_INIT", "gss_header", "gss_rep_header", "sptlrpc_flavor"}},
	{Name: "HSM", Long: "hierarchical storage management", Doc: "Files have copies in an archive, and their data in Lustre can be released " +
		"and restored.",
		See: []string{"MDS_HSM_REQUEST", "MDS_HSM_ACTION", "hsm_attrs", "hsm_states", "trusted.hsm"}},
	{Name: "IDIF", Long: "object id in a FID", Doc: "The FID of an OST object that has an old object id: the OST's index and the id are " +
		"packed into sequence and object number.",
		See: []string{"FID_SEQ_IDIF", "ost_id"}},
	{Name: "IGIF", Long: "inode and generation in a FID", Doc: "The FID of a file from before there were FIDs: its sequence is the inode " +
		"number, its object number the generation.",
		See: []string{"FID_SEQ_IGIF"}},
	{Name: "IR", Long: "imperative recovery", Doc: "The MGS notifies clients of the NIDs of a restarted target, so that they reconnect at " +
		"once rather than after a timeout.",
		See: []string{"OBD_CONNECT_IMP_RECOV", "mgs_nidtbl_entry", "MGS_CONFIG_READ", "LDD_F_IR_CAPABLE"}},
	{Name: "LSOM", Long: "lazy size on MDT", Doc: "The MDT keeps an approximate size and number of blocks of a file, which may be out of " +
		"date. See SOM.",
		See: []string{"OBD_MD_FLLAZYSIZE", "OBD_CONNECT2_LSOM", "lustre_som_attrs"}},
	{Name: "LFSCK", Long: "Lustre file system check", Doc: "Finds and repairs inconsistencies between targets, in the namespace and in the " +
		"layouts of files, while the file system is in use.",
		See: []string{"LFSCK_NOTIFY", "LFSCK_QUERY", "lfsck_request"}},
	{Name: "LLOG", Long: "Lustre log", Doc: "A log of records on a server: configuration, changelogs, HSM actions, unlinked objects, " +
		"updates. Other nodes read it in blocks.",
		See: []string{"LLOG_ORIGIN_HANDLE_CREATE", "LLOG_ORIGIN_HANDLE_NEXT_BLOCK", "llog_log_hdr", "llog_rec_hdr"}},
	{Name: "LMA", Long: "Lustre metadata attributes", Doc: "The attribute in which an object keeps its own FID and what kind of object it is.",
		See: []string{"lustre_mdt_attrs", "lustre_ost_attrs", "trusted.lma"}},
	{Name: "LMV", Long: "logical metadata volume", Doc: "On a client, the device that unites all MDTs; also the layout of a striped directory.",
		See: []string{"lmv_mds_md_v1", "lmv_user_md_v1", "trusted.lmv", "lmv_hash_type"}},
	{Name: "LND", Long: "Lustre network driver", Doc: "The part of LNet for one kind of network: socklnd for TCP, o2iblnd for InfiniBand " +
		"and RoCE, kfilnd for Slingshot.",
		See: []string{"lnet_lnd_type", "ksock_msg_hdr", "kib_msg", "kfilnd_msg"}},
	{Name: "LOV", Long: "logical object volume", Doc: "On a client or MDT, the device that unites all OSTs; also the layout of a file: " +
		"which objects have its data.",
		See: []string{"lov_mds_md_v1", "lov_mds_md_v3", "lov_comp_md_v1", "trusted.lov"}},
	{Name: "LRU", Long: "least recently used", Doc: "The list of unused locks that a client keeps. With lru_resize the server limits it, " +
		"by the limit and the lock volume in its replies.",
		See: []string{"OBD_CONNECT_LRU_RESIZE", "pb_limit", "pb_slv"}},
	{Name: "LVB", Long: "lock value block", Doc: "Attributes that are sent with a lock: size, times and blocks of an object with extent " +
		"locks, the layout of a file with layout locks, usage with quota locks.",
		See: []string{"dlm_lvb", "ost_lvb", "lquota_lvb", "OBD_CONNECT_LVB_TYPE"}},
	{Name: "LWP", Long: "light weight proxy", Doc: "The connection of an OST or MDT to an MDT for FID locations and quota. It takes no " +
		"part in recovery.",
		See: []string{"OBD_CONNECT_LIGHTWEIGHT", "FLD_QUERY", "QUOTA_DQACQ"}},
	{Name: "MDC", Long: "metadata client", Doc: "On a client, the device that sends requests to one MDT, through the portals of the MDS.",
		See: []string{"MDS_CONNECT", "MDS_REINT", "MDS_REQUEST_PORTAL"}},
	{Name: "MDD", Long: "metadata device", Doc: "On an MDS, the layer that knows directories, links and the changelog. Only its changelog " +
		"is visible on the wire.",
		See: []string{"changelog_rec"}},
	{Name: "MDS", Long: "metadata server", Doc: "A node that serves one or more MDTs.", See: []string{"MDS_CONNECT", "MDS_REQUEST_PORTAL"}},
	{Name: "MDT", Long: "metadata target", Doc: "Keeps names, directories and attributes of files: lustre-MDT0000 and so on.",
		See: []string{"MDS_REINT", "mdt_body"}},
	{Name: "MGC", Long: "management client", Doc: "On every node, the client of the MGS: it reads configuration logs and holds locks on " +
		"them, which the MGS revokes when a log grows.",
		See: []string{"MGS_CONNECT", "MGS_CONFIG_READ", "LLOG_ORIGIN_HANDLE_CREATE"}},
	{Name: "MGS", Long: "management server", Doc: "Keeps the configuration of all file systems of a site. Nodes connect to it first.",
		See: []string{"MGS_CONNECT", "MGS_TARGET_REG", "MGS_REQUEST_PORTAL"}},
	{Name: "MR", Long: "multi-rail", Doc: "A node has several network interfaces, and LNet distributes messages over them. Peers learn of " +
		"the interfaces by ping and push.",
		See: []string{"lnet_ping_info", "lnet_ping_features", "LNET_PING_FEAT_MULTI_RAIL"}},
	{Name: "NID", Long: "network identifier", Doc: "The address of a node on an LNet network, such as 192.0.2.1@tcp.",
		See: []string{"lnet_nid", "src_nid", "dest_nid"}},
	{Name: "NRS", Long: "network request scheduler", Doc: "On a server, decides which request is served next: in order of arrival, by " +
		"client, by object or by limits of a policy. Requests that it holds back " +
		"have a longer service time.", See: []string{"pb_service_time", "pb_jobid"}},
	{Name: "OFD", Long: "object filter device", Doc: "On an OSS, the layer that serves requests to an OST.",
		See: []string{"OST_READ", "OST_WRITE", "ost_body"}},
	{Name: "OSC", Long: "object storage client", Doc: "On a client, the device that sends requests to one OST. Its counterpart on an MDT is the OSP.", See: []string{"OST_CONNECT", "OST_WRITE", "OST_IO_PORTAL"}},
	{Name: "OSD", Long: "object storage device", Doc: "On a server, the layer between Lustre and the local file system, ldiskfs or ZFS.",
		See: []string{"ocd_grant_blkbits", "ocd_grant_inobits"}},
	{Name: "OSP", Long: "object storage proxy", Doc: "On an MDT, the device that sends requests to an OST or another MDT: it creates " +
		"objects in advance and sends updates.",
		See: []string{"OST_CREATE", "OST_DESTROY", "OUT_UPDATE"}},
	{Name: "OSS", Long: "object storage server", Doc: "A node that serves one or more OSTs.",
		See: []string{"OST_CONNECT", "OST_REQUEST_PORTAL"}},
	{Name: "OST", Long: "object storage target", Doc: "Keeps objects with the data of files: lustre-OST0000 and so on.",
		See: []string{"OST_READ", "OST_WRITE", "obdo"}},
	{Name: "OUT", Long: "object update target", Doc: "The service by which MDTs change objects of each other, in small steps.",
		See: []string{"OUT_UPDATE", "object_update", "out_update_type"}},
	{Name: "PCC", Long: "persistent client cache", Doc: "A client keeps whole files on a disk of its own. In the read-write form the MDT " +
		"treats such a client as an HSM archive.",
		See: []string{"OBD_CONNECT2_PCC", "MDS_OPEN_PCC", "LU_FOREIGN_TYPE_PCCRW", "trusted.pin"}},
	{Name: "PFID", Long: "parent FID", Doc: "The FID of the directory that a name is in, or of the file that an OST object belongs to.",
		See: []string{"filter_fid", "cr_pfid", "lee_parent_fid", "loa_parent_fid"}},
	{Name: "PFL", Long: "progressive file layout", Doc: "A layout of components: each describes a range of the file, and gets objects when " +
		"the range is first written.",
		See: []string{"lov_comp_md_v1", "lov_comp_md_entry_v1", "LOV_MAGIC_COMP_V1", "LAYOUT_INTENT_WRITE"}},
	{Name: "QMT", Long: "quota master target", Doc: "Keeps the limits of users, groups and projects, and gives parts of them to the other " +
		"targets (QSD). It is on MDT0000.",
		See: []string{"QUOTA_DQACQ", "quota_body", "lquota_lvb"}},
	{Name: "QSD", Long: "quota slave device", Doc: "On each target, enforces limits of quota with what the master (QMT) has given it.",
		See: []string{"QUOTA_DQACQ", "quota_body", "LDLM_GL_CALLBACK"}},
	{Name: "RPC", Long: "remote procedure call", Doc: "A request and all that belongs to it: resends, early replies, bulk data, the reply.",
		See: []string{"ptlrpc_body", "pb_opc", "opcode"}},
	{Name: "SEL", Long: "self-extending layout", Doc: "A component that grows step by step at the cost of the next one, as long as its " +
		"OSTs have room.",
		See: []string{"LOV_MAGIC_SEL", "LCME_FL_EXTENSION"}},
	{Name: "SLV", Long: "server lock volume", Doc: "A limit that a server sets for the unused locks of a client: their number multiplied " +
		"by their age. A client above it cancels locks.",
		See: []string{"pb_slv", "pb_limit", "OBD_CONNECT_LRU_RESIZE"}},
	{Name: "SK", Long: "shared key", Doc: "GSS with keys that administrators distribute: authentication, signatures and encryption without Kerberos.",
		See: []string{"SEC_CTX_INIT", "SPTLRPC_FLVR_SKI", "SPTLRPC_FLVR_SKPI", "LGSS_MECH_SK"}},
	{Name: "SOM", Long: "size on MDT", Doc: "The MDT keeps the size and number of blocks of a file, exact or approximate, so that no " +
		"request to the OSTs is needed.",
		See: []string{"OBD_MD_FLLAZYSIZE", "lustre_som_attrs", "trusted.som", "OBD_CONNECT2_LSOM"}},
	{Name: "VBR", Long: "version based recovery", Doc: "Replays are checked against the versions of the objects that they change, so that " +
		"recovery can go on although a client is missing.",
		See: []string{"OBD_CONNECT_VBR", "pb_pre_versions", "MSG_VERSION_REPLAY"}},
	{Name: "eviction", Long: "removal of a client by a server", Doc: "The server drops a client with its locks: it did not give back a " +
		"lock in time, sent nothing for too long, or was removed by an " +
		"administrator. The client learns it by ENOTCONN, connects as a new one, and loses what it had not written back.",
		See: []string{"LDLM_BL_CALLBACK", "ENOTCONN", "OBD_PING", "MDS_CONNECT"}},
	{Name: "idmap", Long: "mapping of ids", Doc: "Rules of a nodemap: they replace ids of users, groups and projects of some clients by " +
		"those that the file system has, and the other way round.",
		See: []string{"MGS_CONFIG_READ", "mcb_type"}},
	{Name: "precreate", Long: "objects made in advance", Doc: "An MDT has each OST make objects before files need them. A create waits " +
		"only when none is left.",
		See: []string{"OST_CREATE", "OST_MAX_PRECREATE"}},
	{Name: "router", Long: "LNet router", Doc: "A node that passes LNet messages on between networks. The messages keep the NIDs of their " +
		"ends, while TCP connections and queue pairs end at the router.",
		See: []string{"src_nid", "dest_nid"}},
	{Name: "seq", Long: "sequence of FIDs", Doc: "The first part of a FID. Each client and target gets whole sequences, so that it can " +
		"make FIDs without a request for each; " +
		"the location database (FLD) knows which target has the objects of a sequence.",
		See: []string{"f_seq", "SEQ_QUERY", "lu_seq_range", "FLD_QUERY"}},
	{Name: "statahead", Long: "attributes read ahead", Doc: "A process that asks for the attributes of the entries of a directory one by " +
		"one makes its client ask for the next ones in advance, " +
		"with intents or in batches.",
		See: []string{"LDLM_ENQUEUE", "MDS_BATCH", "BUT_GETATTR"}},
}
