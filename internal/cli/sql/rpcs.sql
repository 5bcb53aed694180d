-- The views over RPCs. Requires the table captures and the view rpcs_by_capture (views.go).

-- Pairs of captures that were taken at the same time. ahead is by how many nanoseconds the
-- clock of right is ahead of that of left, where packets show it.
create or replace view lshark.overlaps as
select l.number as left_number, r.number as right_number,
  case when l.clock_of = r.clock_of then l.clock_offset - r.clock_offset end as ahead
from captures l join captures r on l.number <> r.number
  and l.first_ns + coalesce(l.clock_offset, 0) <= r.last_ns + coalesce(r.clock_offset, 0)
  and r.first_ns + coalesce(r.clock_offset, 0) <= l.last_ns + coalesce(l.clock_offset, 0);

-- The RPCs that two captures have, with the capture nearer to the client on the left. delay is how much
-- later the capture on the right has the request, or earlier the reply.
create or replace view lshark.pairs as
with numbered as materialized (
  -- A replay has the xid of the RPC that it repeats; nth numbers the RPCs of a capture that have the same.
  select c.number, filename, file_row_number, client, xid, list_contains(flags, 'REPLAY') as replay, request_time_ns, reply_time_ns, latency,
    row_number() over (partition by c.number, client, xid, list_contains(flags, 'REPLAY') order by coalesce(request_time_ns, reply_time_ns)) as nth
  from rpcs_by_capture join captures c on c.parquet = filename
  where c.number in (select left_number from lshark.overlaps)
), twins as materialized (
  -- Each twice: with either capture on the left.
  select l.number as left_number, l.filename as left_file, l.file_row_number as left_row, l.request_time_ns as left_request, l.reply_time_ns as left_reply, l.latency as left_latency,
    r.number as right_number, r.filename as right_file, r.file_row_number as right_row, r.request_time_ns as right_request, r.reply_time_ns as right_reply, r.latency as right_latency
  from numbered l join numbered r on l.client = r.client and l.xid = r.xid and l.replay = r.replay and l.nth = r.nth and l.number <> r.number
), clocks as (
  -- Where packets do not show the difference, it lies between the least difference of the times of what was
  -- sent one way and the greatest of what was sent the other way; the capture nearer to the client is the
  -- one with the longer latency.
  select left_number, right_number, coalesce(any_value(ahead),
    (min(case when left_latency > right_latency then right_request - left_request when left_latency < right_latency then right_reply - left_reply end)
    + max(case when left_latency > right_latency then right_reply - left_reply when left_latency < right_latency then right_request - left_request end)) // 2) as ahead
  from twins join lshark.overlaps using (left_number, right_number)
  group by all
)
select *, coalesce(right_request - ahead - left_request, left_reply - right_reply + ahead) as delay
from twins join clocks using (left_number, right_number)
where delay > 0 or delay = 0 and left_number < right_number;

-- Each RPC once: the row of the capture nearest to the client.
create or replace view rpcs as
select * exclude (filename, file_row_number) from rpcs_by_capture s
where not exists (select 1 from lshark.pairs p where p.right_file = s.filename and p.right_row = s.file_row_number);

-- The RPCs that several captures have: what the one nearest to the client has seen, and the one farthest
-- from it. Their times are those of one clock: that of the first capture. node_time is not known where
-- the capture at the server shows that it lacks what was sent first.
create or replace view both_sides as
with across as (
  select coalesce(c.clock_offset, case when p.left_number > p.right_number then p.ahead else 0 end) as shift,
    l.* replace (coalesce(l.status, r.status) as status, coalesce(l.error, r.error) as error), list_contains(l.flags, 'REPLAY') as replay,
    l.capture as client_capture, l.request_frame as client_request_frame, l.request_time_ns + shift as client_request_time_ns,
    l.reply_frame as client_reply_frame, l.reply_time_ns + shift as client_reply_time_ns,
    r.capture as server_capture, r.request_frame as server_request_frame, r.request_time_ns - p.ahead + shift as server_request_time_ns,
    r.reply_frame as server_reply_frame, r.reply_time_ns - p.ahead + shift as server_reply_time_ns,
    r.sends as server_sends, p.ahead as clock_difference, r.loss_not_captured as unsure
  from (
    select * from lshark.pairs where delay > 0 -- else they are the same capture, twice
    qualify row_number() over (partition by right_number, right_row order by delay desc) = 1 and row_number() over (partition by left_number, left_row order by delay desc) = 1
  ) p
    join captures c on c.number = p.left_number
    join rpcs_by_capture l on l.filename = p.left_file and l.file_row_number = p.left_row
    join rpcs_by_capture r on r.filename = p.right_file and r.file_row_number = p.right_row
), points as (
  select filename, file_row_number, unnest(sightings) as seen from rpcs_by_capture where len(sightings) > 1
), sides as (
  select filename, file_row_number, arg_min(seen, coalesce(seen.request_time_ns, -seen.reply_time_ns)) as near, arg_max(seen, coalesce(seen.request_time_ns, -seen.reply_time_ns)) as far
  from points group by all
), within as (
  select s.*, list_contains(s.flags, 'REPLAY') as replay,
    near.request_file as client_capture, near.request_frame as client_request_frame, near.request_time_ns as client_request_time_ns,
    near.reply_frame as client_reply_frame, near.reply_time_ns as client_reply_time_ns,
    far.request_file as server_capture, far.request_frame as server_request_frame, far.request_time_ns as server_request_time_ns,
    far.reply_frame as server_reply_frame, far.reply_time_ns as server_reply_time_ns,
    null::bigint as server_sends, null::bigint as clock_difference, s.node_time is null as unsure
  from sides join rpcs_by_capture s using (filename, file_row_number)
), sightings as (
  select xid, op, opcode, variant, client, server, target, job, uid, gid, fid, name, status, error, replay, sends, server_sends, retransmits,
    columns('^(client|server)_(capture|re.*)$'), clock_difference, unsure from across
  union all by name
  select xid, op, opcode, variant, client, server, target, job, uid, gid, fid, name, status, error, replay, sends, server_sends, retransmits,
    columns('^(client|server)_(capture|re.*)$'), clock_difference, unsure from within
)
select * exclude (unsure),
  make_timestamptz(client_request_time_ns // 1000) as client_request_time, make_timestamptz(client_reply_time_ns // 1000) as client_reply_time,
  make_timestamptz(server_request_time_ns // 1000) as server_request_time, make_timestamptz(server_reply_time_ns // 1000) as server_reply_time,
  client_reply_time_ns - client_request_time_ns as latency,
  case when not unsure then server_reply_time_ns - server_request_time_ns end as node_time,
  latency - node_time as wire_time,
  server_request_time_ns - client_request_time_ns as request_delay,
  client_reply_time_ns - server_reply_time_ns as reply_delay
from sightings;

-- The RPCs that took a second or more, also those that waited so long for a lock; rpcs has their other columns.
create or replace view slow as
select greatest(latency, lock_wait) / 1e9 as seconds, duration(greatest(latency, lock_wait)) as duration, op, variant, client, target, job, request_frame, xid from rpcs where greatest(latency, lock_wait) >= 1000000000 order by seconds desc, request_frame, xid;

-- The RPCs with an error: in their status, before the request was sent again, or inside the reply.
create or replace view errors as
select * from rpcs where error is not null or len(other_errors) > 0 order by coalesce(request_time_ns, reply_time_ns);

-- What lshark stats shows; errors of security contexts are not in the status. Percentiles are nearest-rank.
create or replace view by_op as
select op, count(*) as count, count(reply_frame) as replies,
  count(error) + count(*) filter (where array_to_string(other_errors, ',') like '%GSS_S_%') as errors,
  count(*) filter (where reply_missing = 'unanswered') as unanswered, count(*) filter (where reply_missing = 'not_captured') as not_captured,
  sum(greatest(sends - 1, 0))::bigint as resends,
  min(latency) / 1e6 as min_ms, quantile_disc(latency, 0.5) / 1e6 as p50_ms, quantile_disc(latency, 0.9) / 1e6 as p90_ms,
  quantile_disc(latency, 0.99) / 1e6 as p99_ms, max(latency) / 1e6 as max_ms, sum(latency) / 1e9 as sum_s,
  coalesce(sum(request_bytes), 0)::bigint as request_bytes, coalesce(sum(reply_bytes), 0)::bigint as reply_bytes, coalesce(sum(bulk_bytes), 0)::bigint as bulk_bytes
from rpcs group by op order by count desc, op;
