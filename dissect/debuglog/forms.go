package debuglog

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/lshark/lshark/opcodes"
)

// forms are lines of text with parts of these names in braces between. A part without a
// name is anything, also nothing. Of alternatives, <one|other>, a line has one. Runs of spaces are one space. A form
// ends with a part without a name behind what it needs, since lines may be cut off.
var forms = []struct {
	kind   Kind
	reason Reason
	form   string
}{
	// Requests, as Notes.
	{Note, SlowReply, "@@@ Request sent has timed out for slow reply{}"},
	{Note, SentDelay, "@@@ Request sent has timed out for sent delay{}"},
	{Note, NetworkError, "@@@ Request sent has failed due to network error{}"},
	{Note, TookLong, "@@@ <Request took longer than estimated|Slow req_in handling> {}"},
	{Note, NoTimeAdded, "@@@ <Could not|Couldn't> add any time {}"},
	{Note, PastDeadline, "@@@ Already past deadline {}"},
	{Note, DroppedLate, "@@@ Dropping timed-out request from {}"},
	{Note, BulkTimeout, "@@@ timeout on bulk {} after {}"},
	{Note, BulkUnsent, "@@@ network error on bulk {}"},
	{Note, BulkError, "@@@ <truncated|Reconnect on|Eviction on> bulk {}"},
	{Note, BulkError, "@@@ bulk {} failed: {}"},
	{Note, BulkError, "@@@ bulk transfer failed{}"},
	{Note, ReplayMismatch, "@@@ Version mismatch during replay{}"},
	{Note, ReplayMismatch, "@@@ <Open request replay|Replay open> failed with {}"},
	{Note, ReplayTimeout, "@@@ request replay timed out{}"},
	{Note, WrongFlavor, "@@@ DROPPING req with illegal security flavor{}"},
	{Note, ReplyDropped, "@@@ dropping reply{}"},
	{Note, IOFailed, "@@@ redo for recoverable error -5{}"},

	// Imports.
	{ImportState, 0, "{import} {target}: changing import state from {before} to {state}"},
	{Connecting, 0, "{name}: import {import} using connection {nid}/{}"},
	{ConnectFailed, 0, "recovery of {target} on {nid} failed ({status})"},
	{Instance, 0, "{name}: connect to target with instance {number}"},
	{Lost, 0, "{name}: Connection to {} (at {nid}) was lost; {}"},
	{Connected, 0, "{served}: Connection restored to <{uuid} |>(at {nid})"}, // 2.8 to 2.13, of the connection for callbacks
	{Restored, 0, "{name}: Connection restored to <{} |>(at {nid})"},
	{WasEvicted, 0, "{name}: This client was evicted by {}; {}"},
	{WasEvicted, 0, "@@@ {name}: evicting (reconnect/recover flags not set{}"},
	{Idle, 0, "{name}: disconnect after {} idle"},
	{HandleChanged, 0, "Evicted from {target} (at {nid}) after server handle changed from {}"},
	{HandleChanged, 0, "{target}@{nid} changed server handle from {}"},
	{HandleChanged, 0, "Reconnect to {target} (at @{nid}) failed due bad handle {}"},
	{TransnoBack, 0, "{name}<|:> went back in time (transno {}"},
	{Deactivated, 0, "setting import {target} INACTIVE by administrator request{}"},
	{ReplayFailed, 0, "{name}: version recovery fails, reconnecting{}"},
	{RequestFailed, 0, "{name}: operation {opcode} to node {nid} failed: rc = {status}"},
	{RequestFailed, 0, "{name}: Communicating with {nid}, operation {opcode} failed with {status}"},
	{RequestFailed, 0, "an error occurred while communicating with {nid}. The {opcode} operation failed with {status}"},
	{Denied, ByVersion, "Server {target} version {} refused connection from this client with an incompatible version {}"},
	{VersionDiffers, 0, "<|Client version ({}). >Server {target} version ({}) is much {}"},
	{VersionDiffers, 0, "Server {target} does not support feature(s) needed for correct operation of this client {}"},
	{Denied, 0, "{name}: connection denied by {nid}: rc = {status}"},
	{Denied, ByNodemap, "This client was banned by administrative request for file system {}"},
	{Unregistering, 0, "{name}: <Unregistering RPCs|RPCs in \"{}\" phase> found ({number}). Network is sluggish? {}"},
	{PagesDiscarded, 0, "{}: dirty page discard: {}/fid: {} may get corrupted (rc {status}){}"},

	// Connections of clients to a target.
	{Connected, 0, "{target}: connection from {uuid}@{nid} {}"},
	{Reconnected, 0, "{target}: Client {uuid} (at {nid}) <reconnecting|reconnected, waiting for {number} clients in recovery>{}"},
	{Refused, 0, "{target}: <Not available for connect|not available for connect|not available for GSS context init> from {nid} ({}"},
	{Refused, 0, "UUID '{target}' is not available for connect (no target){}"},
	{Denied, InRecovery, "{target}: Denying connection for new client {uuid}< |>(at {nid}), waiting for <|all >{number} known clients ({recovered} recovered, {}"},
	{Denied, StillBusy, "{target}: Client {uuid} (at {nid}) refused <connection|reconnection>, still busy with {number} {}"},
	{Denied, StillBusy, "{target}: Export {} already connecting from {nid}"},
	{Denied, OtherClient, "{target}: Client {uuid} seen on new nid {nid} when existing nid {} is already connected{}"},
	{Denied, OtherClient, "{target}: Rejecting reconnect from the known client {uuid} (at {nid}) because it is indicating it is a new client{}"},
	{Denied, OtherClient, "{target}: already connected client {uuid} (at {nid}) with handle {}"},
	{Denied, OtherClient, "{target}: denying duplicate export for {uuid}<: rc =|,> {status}"},
	{Denied, ByNodemap, "{target}: nodemap {} banning client {uuid} (at {nid}){}"},
	{Denied, ByVersion, "{target} ({}) refused the connection from different version MDT {}"},
	{Denied, ByVersion, "{target}: import {} ({}) tried the connection to different version MDT {}"},
	{Denied, 0, "{target}: the system is in barrier, refuse the connection from MDT {}"},
	{Replaced, 0, "{target}: Received new {} connection from {nid}, removing former export from same NID{}"},
	{Replaced, 0, "{target}: Received {} connection from {nid}, removing former export from {}"},
	{Evicting, BySilence, "{target}: haven't heard from client {uuid} (at {nid}) in <{seconds} seconds.{}|{}>"},
	{Evicting, ByLockCallback, "### lock callback timer expired after {}: evicting client at {nid} ns: {namespace} {}"},
	{Evicting, ByLockCallback, "### client (nid {nid}) <failed to reply to|returned error from> {state} AST ({}), evict it ns: {namespace} {}"},
	{Evicting, ByAdmin, "{target}: evicting {uuid} <(at {nid}) by administrative|at adminstrative> request"},
	{Evicting, ByRecovery, "{target}: disconnect stale client {uuid}@{nid}"},
	{CallbackFailed, 0, "{target}: A client on nid {nid} was evicted due to a lock {state} callback time out: rc {status}"},
	{CallbackFailed, 0, "### client (nid {nid}) returned {status} from {state} AST ns: {namespace} {}"},
	{StaleClients, ByRecovery, "{target}: disconnecting {number} stale clients"},
	{StaleClients, ByReplay, "cannot lookup {}: rc = {status}; evicting client {uuid} with export {nid}"},
	{StaleClients, ByReplay, "Parent {} lookup error {status}. Evicting client {uuid} with export {}"},
	{CookieUnknown, 0, "{} from {nid} arrived at {} with bad export cookie {}"},
	{LockTimedOut, 0, "### lock timed out (enqueued at {}, {seconds}s ago){} ns: {namespace} {}"},
	{SecurityFailed, 0, "ctx {}({}->{}< at {nid}|>): rpc error {status}, destroy locally"},
	{SecurityFailed, 0, "negotiation: rpc err {status}, gss err {}"},
	{SecurityFailed, 0, "failed request key: {status}"},
	{SecurityFailed, 0, "upcall timed out, is lgssd running?{}"},
	{SecurityFailed, 0, "{target}: deny connection from '{nid}' due to missing 'krb_csum' feature{}"},
	{IdentityFailed, 0, "{target}: error invoking upcall {}: rc {status}; check {}"},
	{IdentityFailed, 0, "{target}: acquire for key {} after {}: rc = {status}"},

	// Recovery of a target.
	{Stopped, 0, "server umount {target} complete"},
	{RecoveryBegin, 0, "{target}: Will be in recovery for at least {}, or until {number} client{} reconnect{}"},
	{RecoveryEnd, 0, "{target}: Recovery over after {}, of {number} clients {recovered} recovered and {} evicted."},
	{RecoveryWaits, 0, "{target}: in recovery but waiting for the first client to connect{}"},
	{RecoveryTimedOut, 0, "<{target}: |>recovery is timed out, evict stale exports{}"},
	{RecoveryTimedOut, 0, "{target}: extended recovery timer <reached|reaching> hard limit: {number}, {}"},
	{RecoveryTimedOut, 0, "{target}: Recovery already passed deadline {}"},
	{RecoveryAborted, 0, "{target} recovery is aborted by hard timeout{}"},
	{RecoveryAborted, 0, "recovery is aborted, evict exports in recovery{}"},
	{RecoveryAborted, 0, "{target}: <Aborting|Aborting client|Aborting MDT|aborting> recovery{}"},
	{RecoveryAborted, 0, "{target}: Post recovery failed, rc {status}"},

	// Mounts of clients, starts and stops of targets.
	{Loaded, 0, "<Lustre: |>Build Version: {}"},
	{Mounted, 0, "Mounted {mount}< - version {}|>"},
	{Unmounted, 0, "Unmounted {mount}"},
	{Started, 0, "{target}: Imperative Recovery <enabled, recovery window shrunk from|not enabled, recovery window> {}"},
	{FailingOver, 0, "Failing over {target}"},
	{MountFailed, 0, "Unable to mount {}({status})"},
	{MountFailed, 0, "llite: Unable to mount {}: rc = {status}"},
	{MountFailed, 0, "{}cannot mds_connect: rc = {status}"},
	{MountFailed, 0, "{target}: <cannot register this server with the MGS|the MGS refuses to allow this server to start>: rc = {status}. {}"},
	{MountFailed, 0, "The target named {target} is already running. Double-mount may have compromised the disk journal.{}"},
	{MountFailed, 0, "The client profile '{}' could not be read from the MGS. {}"},
	{MountFailed, 0, "<failed to start server {target}|Unable to start targets|Unable to start osd on {device}>: {status}"},
	{MountFailed, 0, "{target}-osd: can't mount {device}: {status}"},
	{MountFailed, 0, "LDISKFS-fs warning (device {device}): {}: Device is already active on another node{}"},
	{MountFailed, 0, "Can't load module '{}'"},
	{MountFailed, 0, "{}: md_getattr failed for root: rc = {status}"},
	{MountFailed, 0, "Failed to start MGS '{}' ({status}). {}"},
	{MountFailed, 0, "An <MDT (md|OST (dt> {name}) is performing recovery, of which this client is not a part. {}"},
	{MountFailed, 0, "Denying initial registration attempt from nid {nid}, specified as failover{}"},
	{MountFailed, 0, "Server {target} requested index {}, but <that index is already in use.|the max index is|index must be less than> {}"},
	{MountFailed, 0, "{target} claims to have registered, but this MGS does not know about it, preventing registration.{}"},
	{MountFailed, 0, "Trying to start OBD {target} using the wrong disk {}"},
	{MountFailed, 0, "{target}: index {} in last rcvd is different with the index {}"},
	{MountFailed, 0, "{target}: unsupported incompat filesystem feature(s) {}"},
	{MountFailed, 0, "{target}: underlying device {device} is marked as read-only. Setup failed{}"},
	{MountFailed, 0, "Connection from {} to index {} doesn't match actual OST index {} in last_rcvd file{}"},
	{MountFailed, 0, "{target}: subdir mount '{}' refused because {}: rc = {status}"},
	{MountFailed, 0, "The config log for {target} already exists, yet the server claims it never registered. {}"},
	{MountFailed, 0, "{}: Cannot connect to {target}: rc = {status}"},
	{UnmountStuck, 0, "{target} is waiting for obd_unlinked_exports more than {seconds} seconds. {}"},
	{UnmountStuck, 0, "<Forced cleanup|Cleanup> waiting for {namespace} namespace with {number} resources in use, {}"},
	{ConfigFailed, 0, "{name}: <Confguration|Configuration> from log {} failed from MGS {status}. {}"},
	{ConfigFailed, 0, "{name}: The configuration from log '{}'< failed|failed from the MGS> ({status}). {}"},
	{ConfigFailed, 0, "{name}: <failed processing log, type|error processing {} log> {}: rc = {status}"},
	{ConfigFailed, 0, "failed processing log: {status}"},
	{ConfigFailed, 0, "mgc: cannot find UUID by nid '{nid}': rc = {status}"},
	{ConfigFailed, 0, "Failed to get MGS log {} and no local copy.{}"},
	{ConfigFailed, 0, "{name}: failed to get MGS log {} and no_local_log flag is set: rc = {status}"},

	// Threads.
	{ThreadStuck, 0, "{process}: service thread pid {number} was inactive for {seconds} seconds.{}"},
	{ThreadStuck, 0, "Service thread pid {number} was inactive for {seconds}s.{}"}, // up to 2.13
	{ThreadOver, 0, "{process}: service thread pid {number} completed after {seconds}s.{}"},
	{ThreadOver, 0, "Service thread pid {number} completed after {seconds}s.{}"},
	{StackOf, 0, "Pid: {number}, comm: {process}< {}|>"},
	{StackOf, 0, "CPU: {} PID: {number} Comm: {process} {}"},
	{ServiceSlow, 0, "'{process}' is processing requests too slowly, client may timeout. Late by {seconds}s, {}"},
	{ServiceSlow, 0, "{process}: This server is not able to keep up with request traffic (cpu-bound).{}"},
	{TaskHung, 0, "INFO: task {task} blocked for more than {seconds} seconds.{}"},
	{CPUStuck, 0, "{}BUG: soft lockup - CPU#{} stuck for {seconds}s! [{task}]{}"},
	{CPUStuck, 0, "{}Watchdog detected hard LOCKUP on cpu {}"},
	{CPUStuck, 0, "{}<self-detected stall on CPU|detected stalls on CPUs/tasks>{}"},

	// Data.
	{BadChecksum, 0, "<{name}: |>BAD {} CHECKSUM: {}from {nid} inode {}"},
	{BulkFailed, 0, "{target}: Bulk IO {} error with {uuid} (at {nid}), client will retry: rc <|= >{status}"},
	{GrantWrong, 0, "{target}: cli {uuid}</{}|> claims {} GRANT, real grant {number}"},
	{StorageError, 0, "{target}: <failed to stop|cannot start|cannot create> transaction: rc = {status}"},
	{StorageError, 0, "{target}: transaction <|@{} >commit error: rc = {status}"},
	{StorageError, 0, "{target}: transaction @{} was aborted{}"},
	{StorageError, 0, "transaction @{} commit error: {status}"},
	{StorageError, 0, "{target} failed to stop transaction: {status}"},
	{StorageError, 0, "{target}: failed in transaction hook: rc = {status}"},
	{StorageError, 0, "{target}: someone try to start transaction under readonly mode, should be disabled{}"},
	{StorageError, 0, "{target}: fail to read bitmap for {}, scrub will stop{}"},
	{NoSpace, 0, "{target}: failed to start transaction due to ENOSPC{}"},
	{BulkFailed, 0, "event type {}, status {status}, <|req {} >desc {}"},
	{QuotaError, 0, "$$$ {} <qmt|qsd>:{target} {}"},
	{QuotaError, 0, "{target}: can't enable quota enforcement since space accounting isn't functional{}"},
	{QuotaError, 0, "{target}: quota transfer failed: rc = {status}. {}"},
	{PrecreateFailed, 0, "{name}: <cannot precreate objects|can't precreate|cannot cleanup orphans>: rc = {status}"},
	{PrecreateFailed, 0, "{name}: precreate failed opd_pre_status {status}"},
	{PrecreateFailed, 0, "{target}: unable to precreate: rc = {status}"},
	{PrecreateFailed, 0, "{target}: Slow creates, {} objects created at a rate of {}"},
	{PrecreateFailed, 0, "{name}: slow creates, last={}"},
	{ObjectIDsDiffer, 0, "{target}: precreate FID {} is over {} <higher than|larger than the> LAST_ID {}"},
	{ObjectIDsDiffer, 0, "{target}: too large difference between MDS LAST_ID {} and OST LAST_ID {}"},
	{ObjectIDsDiffer, 0, "{target}: MDS LAST_ID {} behind OST LAST_ID {}"},
	{ObjectIDsDiffer, 0, "{name}: precreate fid {} < local used fid {}: rc = {status}"},
	{ObjectIDsDiffer, 0, "{name}: precreate fid {} <= local used fid {}: rc = {status}"},
	{ObjectIDsDiffer, 0, "{target}: invalid precreate request for {}, last_id {}. Likely MDS last_id corruption{}"},
	{ObjectIDsDiffer, 0, "{target}: Found crashed LAST_ID, deny creating new OST-object {}"},
	{ObjectIDsDiffer, 0, "{target}: Too many FIDs to precreate {}"},
	{StorageSlow, 0, "{target}: slow {seconds}s due to heavy IO load"},
	{StorageSlow, 0, "transaction handle {} was open for too long: {}"},
	{ScrubStarted, 0, "{target}: trigger OI scrub by RPC for {}"},
	{ScrubStarted, 0, "{target}: trigger partial OI scrub for RPC inconsistency{}"},
	{ScrubStarted, 0, "{target}: hit invalid OI mapping for {} during recovering, {}"},
	{LFSCKFailed, 0, "{target}: cannot start LFSCK {}"},
	{LFSCKFailed, 0, "{target}: cannot notify MDT {} for LFSCK {}"},
	{LFSCKFailed, 0, "{target}: LFSCK, fail to {}"},
	{LFSCKFailed, 0, "{target}: fail to stop LFSCK on some MDTs: rc = {status}"},
	{Injected, 0, "{}: *** setting device {} read-only ***"},

	// LNet.
	{NetStarted, 0, "Added LNI {peer} [{}"},
	{NetStopped, 0, "Removed LNI {peer}"},
	{NetError, NetTimeout, "Timed out tx for {peer}: {seconds} seconds{}"},
	{NetError, NetTimeout, "Timed out tx: {}, {seconds} seconds{}"},
	{NetError, NetTimeout, "Timed out RDMA with {peer} ({seconds}): {}"},
	{NetError, NetTimeout, "Timed out for RDMA connect request with {peer} ({seconds}s), aborting{}"},
	{NetError, NetTimeout, "peer {}->{peer} closed connection {} due to timeout. Is node down? {}"},
	{NetError, NetTimeout, "hardware timeout for connect to {peer} after {seconds} seconds. Is node dead?"},
	{NetError, NetTimeout, "could not send to {peer} due to connection setup failure after {seconds} seconds"},
	{NetError, NetTimeout, "{peer} conn timed out, will reconnect upon request from peer{}"},
	{NetError, NetTimeout, "TN {}: {} -> {peer}({}):{} Bulk operation timeout{}"},
	{NetError, NetTimeout, "TN {}: {} <- {peer}({}):{} Bulk operation timeout{}"},
	{NetError, NetTimeout, "Connection to {peer} at host {} took too long: that node may be hung or experiencing high load.{}"},
	{NetError, NetTimeout, "A connection with {peer} ({}) timed out; the network or node may be down.{}"},
	{NetError, NetTimeout, "Timeout receiving from {peer} ({}), state {}"},
	{NetError, NetTimeout, "Timeout sending data to {peer} ({}) the network or that node may be down.{}"},
	{NetError, NetTimeout, "Timeout error while writing to {host}:{}. Closing socket: rc = {status}"},
	{NetError, NetTimeout, "Total {} stale ZC_REQs for <peer|peer_ni> {peer} detected; {}"},
	{NetError, NetTimeout, "{} datagram to {peer} timed out @ {}"},
	{NetError, NetRefused, "Connection to {peer} at host {} was refused: check that Lustre is running on that node.{}"},
	{NetError, NetRefused, "{peer} rejected: {}"},
	{NetError, NetRefused, "{peer}: REJECTED {}"},
	{NetError, NetRefused, "Refusing connection from {host}<|:{}>: insecure port{}"},
	{NetError, NetRefused, "Dropping connection request from {host}: memory exhausted"},
	{NetError, NetRefused, "Received NAK from {peer} for {} errno {status}; {}"},
	{NetError, NetRefused, "Connected successfully to {peer} on host {}, but they claimed they were {}"},
	{NetError, NetRefused, "Protocol error connecting to {peer} at host {}"},
	{NetError, NetRefused, "Refusing connection from {host} for {}: No matching NI{}"},
	{NetError, NetRefused, "Can't accept conn from {peer} {}"},
	{NetError, NetRefused, "Can't accept {peer}: {}"},
	{NetError, NetUnreachable, "Connection to {peer} at host {} was unreachable: {}"},
	{NetError, NetUnreachable, "{peer}: UNREACHABLE {status} {}"},
	{NetError, NetUnreachable, "{peer}: <UNREACHABLE|ROUTE ERROR|ADDR ERROR|CONNECT ERROR> {status}"},
	{NetError, NetUnreachable, "Can't resolve route for {peer}: {}"},
	{NetError, NetReset, "Connection to {peer} at host {} was reset: {}"},
	{NetError, NetReset, "A connection with {peer} ({}) was reset; it may have rebooted.{}"},
	{NetError, NetReset, "Host {host} reset our connection while we were sending data; it may have rebooted{}"},
	{NetError, NetFailed, "There was an unexpected network error while writing to {host}: <rc = |>{status}"},
	{NetError, NetFailed, "An unexpected network error {status} occurred with {peer} ({}"},
	{NetError, NetFailed, "Unexpected error {status} connecting to {peer} at host {}"},
	{NetError, NetFailed, "Tx -> {peer} cookie {} sending {} waiting {}: failed {number}"},
	{NetError, NetFailed, "<Closing conn|closing conn|Closing conn {}> to {peer}: error {status}"},
	{NetError, NetFailed, "could not start connecting to {peer} rc {}"},
	{NetError, NetFailed, "No privileged ports available to connect to {peer} at host {}"},
	{NetError, NetFailed, "Closed conn {}->{peer} (errno {status}, peer errno {}): canceled {}"},
	{NetError, NetFailed, "Deleting packet type {} len {} {}->{peer}"},
	{NetError, NetFailed, "Deleting messages for {peer}: connection failed{}"},
	{NetError, NetFailed, "Rx from {peer} failed: {number}"},
	{NetError, NetFailed, "RDMA (tx: {}) failed: {number}"},
	{NetError, NetFailed, "TN {}: {} -> {peer}({}):{} <Failed|Dropping message> {}"},
	{NetError, NetFailed, "TN {}: {} <- {peer}({}):{} <Failed|Dropping message> {}"},
	{NetError, NetFailed, "SMSG send error to {peer}: rc {}"},
	{NetError, NetFailed, "Error {status} posting transmit to {peer}"},
	{NetError, NetFailed, "posting transmit to {peer}: rc = {status}"},
	{NetError, NetFailed, "Can't connect to {peer}: <|cm_id {}: rc = >{status}"},
	{NetError, NetFailed, "{peer}: ib_poll_cq failed: {}"},
	{NetError, NetFailed, "Bad credits from {peer}: {}"},
	{NetError, NetFailed, "Error {status} connecting {} -> {host}</|:>{}"},
	{NetError, NetFailed, "Error sending <PUT|GET> to {peer}: {status}"},
	{NetError, NetRace, "Conn race {peer}<: unresolved {}|>"},
	{NetError, NetStale, "Conn stale {peer} {}"},
	{NetError, NetRouteless, "<no route to {peer} from|No route to {peer} via|no path to {peer} from net> {}"},
	{NetError, NetRouteless, "Unable to <send message from {}|route message> to {peer} - Route table may be misconfigured"},
	{NetError, NetRouteless, "No usable routes to {peer}"},
	{NetError, NetRouteless, "Can't send response to {peer}. No route available"},
	{NetError, NetRouteless, "Can't send to {peer}: src {} is not a local nid"},
	{NetError, NetRouteless, "Failed to discover router {peer}"},
	{NetError, NetRouteless, "peer {peer} is unreachable"},
	{NetError, NetTimeout, "Dropping message for {peer}: <peer not alive|exceeded message deadline>{}"},
	{NetDropped, NetFailed, "Matching packet from {peer}, match {} length {} too big: {}"},
	{NetDropped, 0, "Dropping <PUT|GET> from {peer} portal {}"},
	{NetDropped, 0, "{}: Dropping REPLY from {peer}< for|:> {}"},
	{NetDropped, NetFailed, "{}: Dropping REPLY from {peer} length {}"},
	{NetDropped, 0, "{}, src {peer}: Dropping {}"},
	{NetDropped, 0, "Dropping <PUT|GET> to {peer}: {}"},
	{NetDropped, 0, "{number} messages in past {}s over their deadline by avg {}"},
	{NetRecovering, 0, "{number} <peer|local> NIs in recovery{}"},
	{NetError, NetTimeout, "peer NI ({peer}) recovery failed with {status}"},
	{NetRecovering, 0, "local NI ({peer}) recovery failed with {status}"},
	{NetDeviceFailed, 0, "Fatal device error for NI {peer}"},
	{NetDeviceFailed, 0, "Received notification of device removal{}"},
	{NetDeviceFailed, 0, "Error {status} starting up LNI {}"},
	{NetDeviceFailed, 0, "Can't load LND {}, module {}, rc={status}"},
	{NetDeviceFailed, 0, "Can't start acceptor on port {}: {}"},
	{NetDeviceFailed, 0, "{}: resetting all resources (count {})"},
	{NetDeviceBack, 0, "Port reactivated for NI {peer}"},

	// Hosts.
	{Booted, 0, "Linux version {}"},
	{ShuttingDown, 0, "reboot: <Restarting system|Power down>{}"},
	{ShuttingDown, 0, "Restarting system."},
	{Bug, 0, "LBUG"},
	{Bug, 0, "ASSERTION( {} ) failed:{}"},
	{Bug, 0, "ASSERTION({}) failed<|:|: {}>"},
	{Bug, 0, "PANIC at {}"},
	{Bug, 0, "SPL PANIC"},
	{Bug, 0, "VERIFY{}({}) failed<| {}>"},
	{Panic, 0, "Kernel panic - not syncing: {}"},
	{Panic, 0, "BUG: unable to handle kernel {}"},
	{Panic, 0, "kernel BUG at {}"},
	{OutOfMemory, 0, "Out of memory: <Kill|Killed> process {number} ({process}){}"},
	{MemoryError, 0, "{}[Hardware Error]: {}"},
	{MemoryError, 0, "EDAC {device}: {number} {} error {}"},
	{LinkDown, 0, "{device}<|:> NIC Link is Down{}"},
	{LinkDown, 0, "{device}: <Link down|Link is down|Link is Down|link down>{}"},
	{LinkDown, 0, "{device}: Port: {} Link DOWN{}"},
	{LinkDown, 0, "{device}: Port module event: module {}, Cable unplugged"},
	{LinkDown, 0, "NETDEV WATCHDOG: {device} ({}): transmit queue {} timed out{}"},
	{LinkDown, 0, "{}: link status definitely down for interface {device}, {}"},
	{LinkDown, 0, "{}(slave {device}): link status definitely down, {}"},
	{LinkUp, 0, "{device}<|:> NIC Link is Up{}"},
	{LinkUp, 0, "{device}: <Link up|Link is up|Link is Up|link up>{}"},
	{LinkUp, 0, "{device}: Port: {} Link UP{}"},
	{DiskError, 0, "{}<I/O|critical {}> error, dev {device}, sector {}"},
	{DiskError, 0, "Buffer I/O error on <dev|device> {device}, {}"},
	{DiskError, 0, "sd {}: [{device}] {}FAILED Result: hostbyte={failure} {}"},
	{DiskError, 0, "sd {}: [{device}] {}Unhandled error code{}"},
	{DiskError, 0, "sd {}: [{device}] {}Sense Key : <Medium|Hardware> Error {}"},
	{DiskError, 0, "{}: rejecting I/O to offline device{}"},
	{DiskError, 0, "md/raid{}: read error not correctable (sector {} on {device})."},
	{DiskError, 0, "zio pool={device} vdev={} error={} {}"},
	{DiskError, 0, "JBD2: Detected IO errors while flushing file data on {device}"},
	{DiskError, 0, "nvme {device}: <Removing after probe failure|Device not ready; aborting> {}"},
	{DiskTimeout, 0, "{}attempting task abort!{}"},
	{DiskTimeout, 0, "{}task abort: {}"},
	{DiskTimeout, 0, "nvme {device}: I/O {} timeout, {}"},
	{DiskTimeout, 0, "nvme {device}: controller is down; will reset: {}"},
	{RaidFailed, 0, "<md/|>raid{}: Disk failure on {device}, disabling device.{}"},
	{PathFailed, 0, "device-mapper: multipath: {}Failing path {device}."},
	{PathBack, 0, "device-mapper: multipath: {}Reinstating path {device}."},
	{FilesystemError, 0, "<LDISKFS|EXT4>-fs error (device {device}): {}"},
	{FilesystemError, 0, "Aborting journal on device {device}."},
	{FilesystemError, 0, "<LDISKFS|EXT4>-fs ({device}): Remounting filesystem read-only{}"},
	{FilesystemError, 0, "LDISKFS-fs error (device {device}) in {}"},
	{FilesystemError, 0, "JBD2: I/O error detected when updating journal superblock for {device}."},
	{FilesystemError, 0, "{}Pool '{device}' has encountered an uncorrectable I/O failure and has been suspended.{}"},

	{Injected, 0, "*** cfs_fail_loc={}"},
	{Injected, 0, "cfs_fail_timeout id {} sleeping for {}"},
	{Marker, 0, "DEBUG MARKER: {text}"},
	{Skipped, 0, "Skipped {number} previous similar message{}"},
}

// form is a form of lines: words and the parts that follow each.
type form struct {
	kind   Kind
	reason Reason
	words  [][]byte
	parts  []string
}

// table has the forms by a word that their lines have: the rarest of all forms, so that a
// line is compared with few.
type table struct {
	list    []form
	words   map[string][]int  // places in list
	lengths [256]uint64       // of the words by their first byte: bits
	names   map[string]uint32 // opcodes by their names in lines
}

var formTable = sync.OnceValue(func() *table { return newTable(func(Kind) bool { return true }) })

// newTable returns a table of the forms of some kinds.
func newTable(has func(Kind) bool) *table {
	t := &table{words: map[string][]int{}, names: map[string]uint32{}}
	for _, v := range opcodes.Opcodes.Values {
		t.names[strings.ToLower(v.Name)] = uint32(v.Value)
	}
	var keys [][]string
	used := map[string]int{}
	for _, c := range forms {
		for _, text := range spell(c.form) {
			f := newForm(c.kind, c.reason, []byte(text))
			list := wholeWords(f.words)
			for _, k := range list {
				used[k]++
			}
			t.list, keys = append(t.list, f), append(keys, list)
		}
	}
	for i, list := range keys {
		if !has(t.list[i].kind) {
			continue
		}
		key := slices.MinFunc(list, func(a, b string) int { return used[a] - used[b] })
		t.words[key] = append(t.words[key], i)
		t.lengths[key[0]] |= 1 << min(len(key), 63)
	}
	return t
}

// alternatives are texts of a form of which a line has one.
var alternatives = regexp.MustCompile(`<([^<>]*\|[^<>]*)>`)

// spell returns the forms without alternatives that a form stands for.
func spell(form string) (list []string) {
	at := alternatives.FindStringSubmatchIndex(form)
	if at == nil {
		return []string{form}
	}
	for _, text := range strings.Split(form[at[2]:at[3]], "|") {
		list = append(list, spell(form[:at[0]]+text+form[at[1]:])...)
	}
	return list
}

// newForm returns a form by its text, which has no alternatives.
func newForm(kind Kind, reason Reason, text []byte) form {
	f := form{kind: kind, reason: reason}
	for {
		words, after, more := bytes.Cut(text, []byte("{"))
		f.words = append(f.words, words)
		if !more {
			return f
		}
		var part []byte
		part, text, _ = bytes.Cut(after, []byte("}"))
		f.parts = append(f.parts, string(part))
	}
}

// wholeWords returns the words of a form that are whole words of its lines, too.
func wholeWords(texts [][]byte) (list []string) {
	for i, text := range texts {
		words := strings.Split(string(text), " ")
		if i > 0 {
			words[0] = ""
		}
		if i < len(texts)-1 {
			words[len(words)-1] = ""
		}
		for _, w := range words {
			if w != "" {
				list = append(list, w)
			}
		}
	}
	return list
}

// readForm reads a line of one of the forms.
func (e *Event) readForm(b []byte, names *names) bool {
	b = bytes.TrimRight(b, " \r")
	text := names.oneSpace(b)
	f := e.match(text, names)
	if f == nil {
		return names.only == nil && e.readFrame(text, names)
	}
	if e.Kind, e.Reason = f.kind, f.reason; e.Text == "" {
		e.Text = names.text(b)
	}
	return true
}

// match returns the first form that a line is of, and sets its parts.
func (e *Event) match(b []byte, names *names) (found *form) {
	t, before := names.only, *e
	if t == nil {
		t = formTable()
	}
	first := len(t.list)
	for rest, word := b, []byte(nil); len(rest) > 0; {
		if n := bytes.IndexByte(rest, ' '); n >= 0 {
			word, rest = rest[:n], rest[n+1:]
		} else {
			word, rest = rest, nil
		}
		if len(word) == 0 || t.lengths[word[0]]>>min(len(word), 63)&1 == 0 {
			continue
		}
		for _, i := range t.words[string(word)] {
			f := &t.list[i]
			if i >= first || !bytes.HasPrefix(b, f.words[0]) {
				continue
			}
			if try := before; try.readParts(f, b, names) {
				first, found, *e = i, f, try
			}
		}
	}
	return found
}

// readFrame reads a function of a stack, without those that are only perhaps of it:
//
//	[<ffffffffc0a1b2c3>] ptlrpc_set_wait+0x480/0x790 [ptlrpc]
func (e *Event) readFrame(b []byte, names *names) bool {
	b = bytes.TrimLeft(b, " ")
	if bytes.HasPrefix(b, []byte("[<")) {
		_, b, _ = bytes.Cut(b, []byte(" "))
	}
	name, place, ok := bytes.Cut(b, []byte("+0x"))
	offset, size, ok2 := bytes.Cut(place, []byte("/0x"))
	size, module, _ := bytes.Cut(size, []byte(" "))
	if !ok || !ok2 || !isHexNumber(offset) || !isHexNumber(size) || len(module) > 0 && module[0] != '[' {
		return false
	}
	for _, c := range name {
		if !isWord(c) && c != '.' {
			return false
		}
	}
	e.Kind, e.Text = StackFrame, names.text(name)
	return len(name) > 0
}

func isHexNumber(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789abcdef")) == 0 }

// oneSpace returns a text with one space for each run of them.
func (n *names) oneSpace(b []byte) []byte {
	if !bytes.Contains(b, []byte("  ")) {
		return b
	}
	n.spaces = n.spaces[:0]
	for i, c := range b {
		if c != ' ' || i > 0 && b[i-1] != ' ' {
			n.spaces = append(n.spaces, c)
		}
	}
	return n.spaces
}

const maxThreadTime = 1e9 // seconds

// readParts reads the parts of a line of a form.
func (e *Event) readParts(f *form, b []byte, names *names) bool {
	rest := b[len(f.words[0]):]
	for i, part := range f.parts {
		end := f.words[i+1]
		n := len(rest)
		if len(end) > 0 {
			if n = bytes.Index(rest, end); n < 0 {
				return false
			}
		} else if i < len(f.parts)-1 {
			return false
		}
		if len(end) == 0 && (part == "status" || part == "number") { // the last part; a full stop may follow
			n = len(rest) - len(bytes.TrimLeft(rest, "-0123456789"))
			rest = rest[:n]
		}
		if !e.setPart(part, rest[:n], names) {
			return false
		}
		rest = rest[min(len(rest), n+len(end)):]
	}
	return len(rest) == 0
}

// setPart sets a part of a line by its name.
func (e *Event) setPart(part string, b []byte, names *names) bool {
	switch part {
	case "":
		return true
	case "import":
		n, err := strconv.ParseUint(string(b), 16, 64)
		e.Import = n
		return err == nil
	case "status":
		n, ok := signed(b)
		e.Status = int32(n)
		return ok
	case "number", "recovered":
		n, ok := unsigned(b)
		if part == "number" {
			e.Number = uint32(n)
		} else {
			e.Recovered = uint32(n)
		}
		return ok
	case "seconds": // what takes them may be in front
		b = b[bytes.LastIndexByte(b, ' ')+1:]
		s, err := strconv.ParseFloat(string(b), 64)
		e.Service = int64(s * 1e9)
		return err == nil && s >= 0 && s < maxThreadTime
	case "text":
		e.Text = names.text(b)
		return true
	case "device": // a driver may say more in front of it
		b = b[bytes.LastIndexByte(b, ' ')+1:]
	}
	if len(b) == 0 || bytes.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return false // the imports of servers to clients have no target: what is printed there is not set
	}
	switch part {
	case "nid": // it may be <unknown>
		e.Peer = names.nid(b)
	case "peer":
		e.Peer = names.nid(b)
		return e.Peer.Len > 0
	case "host":
		e.Peer = names.address(b)
		return e.Peer.Len > 0
	case "process":
		e.Process = names.text(b)
	case "task": // kworker/u65:2:1234
		at := max(0, bytes.LastIndexByte(b, ':'))
		number, ok := unsigned(bytes.TrimPrefix(b[at:], []byte(":")))
		e.Process, e.Number = names.text(b[:at]), uint32(number)
		return ok
	case "name":
		e.setName(b, names)
	case "target":
		e.Target = names.text(bytes.TrimSuffix(b, []byte("_UUID")))
	case "failure": // else what the device says follows, and may be harmless
		return !bytes.HasPrefix(b, []byte("DID_OK"))
	case "served": // a target, which is no import
		e.Target = names.text(b)
		return len(targetOf(b)) == len(b)
	case "uuid":
		e.UUID = names.text(b)
	case "before":
		e.Before = names.text(b)
	case "state":
		e.State = names.text(b)
	case "device":
		e.Device = names.text(b)
	case "mount":
		e.Name = names.text(b)
		return bytes.Contains(b, []byte("-client"))
	case "opcode":
		opcode, ok := formTable().names[string(b)]
		e.Opcode = opcode
		return ok
	case "namespace":
		b = bytes.TrimPrefix(bytes.TrimPrefix(b, []byte("filter-")), []byte("mdt-"))
		e.Target = names.text(targetOf(bytes.TrimSuffix(b, []byte("_UUID"))))
	}
	return true
}

// setName sets the name of an import, and the target that it has.
func (e *Event) setName(b []byte, names *names) {
	e.Name, e.Target = names.text(b), names.text(targetOf(b))
}
