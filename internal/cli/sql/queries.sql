-- The queries of docs/queries.md. Each begins with a line that has its name and question.

-- latency_by_target: Which operations are slow, and on which target?
select op, target, count(latency) as replies,
  round(quantile_disc(latency, .5) / 1e6, 1) as p50_ms, round(quantile_disc(latency, .99) / 1e6, 1) as p99_ms
from rpcs group by all having replies > 2 order by p99_ms desc, op, target limit 20;

-- latency_over_time: When did a target get slow?
select strftime(time_bucket(interval 10 seconds, request_time), '%H:%M:%S') as since, target, count(*) as rpcs,
  round(avg(latency) / 1e6, 1) as mean_ms, round(max(latency) / 1e6, 1) as max_ms
from rpcs where target like '%OST%' group by all order by target, since;

-- slowest: Which RPCs took a second or more, and what were they?
select round(seconds, 2) as seconds, op, variant, client, target, request_frame as frame
from slow limit 20;

-- network_or_server: Is it the network or the server?
select op, count(*) as rpcs, round(median(rtt) / 1e6, 2) as rtt_ms, round(median(latency) / 1e6, 2) as latency_ms,
  round(100 * sum(least(rtt, latency)) / sum(latency))::int as network_percent
from rpcs where rtt is not null and latency > 0 group by all order by rpcs desc, op limit 20;

-- wire_time: How much of the latency was between the nodes?
select op, count(*) as rpcs, round(avg(latency) / 1e6, 2) as latency_ms, round(avg(node_time) / 1e6, 2) as node_ms,
  round(avg(wire_time) / 1e6, 2) as wire_ms, round(max(request_delay) / 1e6, 2) as slowest_request_ms
from both_sides group by all order by rpcs desc, op limit 20;

-- lost_requests: Did requests get lost between client and server?
select r.capture as client_capture, s.server_capture, r.server, count(*) as sent, count(b.xid) as arrived, count(*) - count(b.xid) as lost
from rpcs_by_capture r
  join (select distinct client_capture, server_capture, server from both_sides) s on s.client_capture = r.capture and s.server = r.server
  join captures c on c.capture = s.client_capture join captures v on v.capture = s.server_capture
  left join both_sides b on b.client = r.client and b.xid = r.xid
where r.request_time_ns + c.clock_offset between v.first_ns + v.clock_offset and v.last_ns + v.clock_offset
group by all order by lost desc, server, client_capture, server_capture;

-- retransmits: Where did TCP have to send again, and what did it cost?
select client, server, count(*) as rpcs, sum(retransmits) as retransmits,
  count(*) filter (where retransmits > 0) as rpcs_hit, round(sum(retransmit_time) / 1e6)::int as lost_ms
from rpcs group by all having retransmits > 0 order by retransmits desc, client, server;

-- clients: Who hogs the servers?
select client, count(*) as rpcs, sum(bulk_bytes)::bigint as bulk_bytes, round(sum(latency) / 1e9, 2) as busy_s,
  round(100 * sum(latency) / sum(sum(latency)) over (), 1) as percent
from rpcs group by all order by busy_s desc, client;

-- jobs: Which job does what?
select job, count(*) as rpcs, count(*) filter (where op like 'MDS%' or op = 'LDLM_ENQUEUE') as metadata,
  sum(bulk_bytes)::bigint as bulk_bytes, count(error) as errors
from rpcs where job <> '' group by all order by rpcs desc, job limit 20;

-- small_io: Who does small or scattered I/O?
select coalesce(path, fid) as file, kind, reads, writes, read_size, write_size, pattern, clients
from files where reads + writes > 0 order by least(read_size, write_size), file, kind limit 20;

-- errors_by_op: Which errors are there, and whose?
select coalesce(error, array_to_string(other_errors, ',')) as error, op, target, count(*) as count, count(distinct client) as clients, strftime(min(request_time), '%H:%M:%S') as first
from errors group by all order by count desc, op, error, target limit 20;

-- errors_over_time: How did errors spread over time?
select strftime(time_bucket(interval 30 seconds, request_time), '%H:%M:%S') as since, count(*) as rpcs,
  count(error) as errors, count(distinct target) filter (where error is not null) as targets
from rpcs group by all order by since;

-- evictions: Who was evicted, when, and by which target?
select client, target, strftime(e.time, '%H:%M:%S') as time, e.frame, e.text
from (select client, target, unnest(events) as e from imports)
where e.event = 'evicted' order by e.time, client, target;

-- resends: Which requests were sent again or replayed?
select op, client, target, sends, flags, round(latency / 1e9, 2) as seconds, request_frame as frame
from rpcs where sends > 1 or len(flags) > 0 order by request_time, frame, client limit 20;

-- unanswered: Which requests got no answer?
select reply_missing, op, server, count(*) as rpcs, strftime(min(request_time), '%H:%M:%S') as first
from rpcs where reply_missing is not null group by all order by rpcs desc, op, server, reply_missing limit 20;

-- lock_waits: Which clients wait for locks, and for whom?
select l.resource_text as resource, l.type, b.blocker.client as held_by, count(*) as waits,
  count(distinct l.client) as waiting_clients, round(max(l.waited) / 1e6)::int as longest_ms
from locks l, (select unnest(l.blocked_by) as blocker) b
group by all order by waits desc, longest_ms desc, resource, held_by, type limit 20;

-- lock_callbacks: Which files go back and forth between clients?
select resource_text as resource, type, count(*) as locks, count(distinct client) as clients,
  sum(len(callbacks))::bigint as callbacks, round(median(held) / 1e6)::int as median_held_ms
from locks group by all having callbacks > 1 order by callbacks desc, resource, type limit 20;

-- releases: Which clients run old releases?
select version_client, version_server, count(distinct client) as clients, count(*) as connections,
  min(flags_refused) as refused
from imports where version_client is not null group by all order by version_client, version_server;

-- findings_by_code: What does diagnose find over all captures?
select severity, code, count(*) as findings, count(distinct capture) as captures, min(time)::date as first
from findings group by all order by severity, findings desc, code limit 20;

-- messages_by_kind: Which messages are the bytes on the wire?
select kind, count(*) as messages, sum(lnet_payload_length)::bigint as bytes
from messages group by all order by bytes desc nulls last, kind;
