-- The fields of lshark for Wireshark. "lshark extcap --install" overwrites this file.
--
-- The packets that "lshark -w FILE --pdu" writes, and those of its live captures, are
-- messages as JSON. This dissector makes a typed field of each member, for filters,
-- columns, graphs and statistics: lshark.pb_opc, lshark.ocd_connect_flags.GRANT. It uses
-- only what Wireshark 4.0 to 4.6 and Lua 5.1 to 5.4 have.

local groups, fields, notes = [==[
@groups@]==], [==[
@fields@]==], [==[
@notes@]==]

local find, byte, sub, match, gsub = string.find, string.byte, string.sub, string.match, string.gsub

local proto = Proto("lshark", "Lustre message")
local all = {}     -- every ProtoField
local by_name = {} -- of a member; keys inside objects of lshark's own have a path
local objects = {} -- paths of those objects, and what the paths inside begin with
local nested = {}  -- fields whose members can only be told from others by where they are
local wire = "wire." -- begins the path of a member of the wire that has the name of a key

local function define(new, name, ...)
  local f = new("lshark." .. name:gsub("[^%w_.-]", "_"), name:match("[^.]+$"), ...)
  all[#all + 1] = f
  return f
end

-- Groups of named values: names in order, and numbers by name.
local group_of = {}
do
  local group
  for first, second in groups:gmatch("(%S+) (%S+)\n") do
    if second == "true" or second == "false" then
      group = { names = {}, number = {}, flags = second == "true" }
      group_of[first] = group
    else
      group.names[#group.names + 1] = first
      group.number[first] = second
    end
  end
end

local constructors = {
  u32 = ProtoField.uint32, u64 = ProtoField.uint64, s32 = ProtoField.int32, s64 = ProtoField.int64,
  x32 = ProtoField.uint32, x64 = ProtoField.uint64, o32 = ProtoField.uint32, e32 = ProtoField.int32,
  f32 = ProtoField.uint32, f64 = ProtoField.uint64,
}
local bases = { x = base.HEX, f = base.HEX, o = base.OCT }

local function values_of(group, sign)
  local list = {}
  for _, name in ipairs(group.names) do
    local n = sign * tonumber(group.number[name])
    list[n] = list[n] or name
  end
  return list
end

for name, kind, number, doc in fields:gmatch("(%S+) (%S+) (%d+) ([^\n]*)\n") do
  local group, new = group_of[number], constructors[kind]
  local f = { kind = kind, group = group, wide = kind:sub(2) == "64" }
  if name == "request_frame" or name == "reply_frame" then
    f.field = define(ProtoField.framenum, name, base.NONE, name == "request_frame" and frametype.REQUEST or frametype.RESPONSE, 0, doc)
  elseif new then
    local values = nil
    if group and not group.flags then
      values = values_of(group, kind == "e32" and -1 or 1)
    end
    f.field = define(new, name, bases[kind:sub(1, 1)] or base.DEC, values, nil, doc)
    if group and not values then
      f.bits = {}
      for _, flag in ipairs(group.names) do
        f.bits[flag] = define(ProtoField.bool, name .. "." .. flag, base.NONE, nil, nil, flag .. " of " .. name)
      end
    end
  elseif kind == "none" then
    f.field = define(ProtoField.none, name, doc)
  elseif kind == "time" then
    f.field = define(ProtoField.absolute_time, name, base.UTC, doc)
  elseif kind == "duration" then
    f.field = define(ProtoField.relative_time, name, doc)
  else
    f.field = define(ProtoField.string, name, base.UNICODE, doc)
  end
  by_name[name] = f
  local around, inner = name:match("^(.+%.)([^.]+)$")
  if around == wire then
    nested[#nested + 1], nested[#nested + 2] = f.field, by_name[inner].field
  elseif around then
    objects[sub(around, 1, -2)] = around
  end
end
nested[#nested + 1] = by_name.fid.field
local finding = define(ProtoField.string, "finding", base.UNICODE, "code and sentence of a finding of lshark diagnose")
local evidence = define(ProtoField.framenum, "finding.packet", base.NONE, frametype.NONE, 0, "message that proves a finding")
proto.fields = all

local severities = { error = PI_ERROR, warning = PI_WARN, note = PI_NOTE }
local experts, findings = {}, {}
local failed = ProtoExpert.new("lshark.reply.error", "Reply with an error", PI_RESPONSE_CODE, PI_NOTE)
do
  local list = { failed }
  for name, severity in pairs(severities) do
    findings[name] = ProtoExpert.new("lshark.finding." .. name, "Finding", PI_SEQUENCE, severity)
    list[#list + 1] = findings[name]
  end
  for code, severity, doc in notes:gmatch("(%S+) (%S+) ([^\n]*)\n") do
    experts[code] = ProtoExpert.new("lshark.note." .. code, doc, code == "checksum" and PI_CHECKSUM or PI_PROTOCOL, severities[severity])
    list[#list + 1] = experts[code]
  end
  proto.experts = list
end

local QUOTE, OBJECT, END_OBJECT, LIST, END_LIST = byte('"'), byte("{"), byte("}"), byte("["), byte("]")

local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }

local function unescape(text)
  if not find(text, "\\", 1, true) then
    return text
  end
  return (gsub(text, "\\(.)(%x?%x?%x?%x?)", function(c, hex)
    if c ~= "u" then
      return (escapes[c] or c) .. hex
    end
    local n = tonumber(hex, 16)
    if n < 0x80 then
      return string.char(n)
    elseif n < 0x800 then
      return string.char(0xc0 + math.floor(n / 64), 0x80 + n % 64)
    end
    return string.char(0xe0 + math.floor(n / 4096), 0x80 + math.floor(n / 64) % 64, 0x80 + n % 64)
  end))
end

local function u64(text)
  if text == "EOF" then
    return UInt64.max()
  elseif sub(text, 1, 2) == "0x" then
    return UInt64.fromhex(sub(text, 3))
  end
  return match(text, "^%d+$") and UInt64(text) or nil
end

-- days returns the days from 1970-01-01 to a date.
local function days(y, m, d)
  if m < 3 then
    y, m = y - 1, m + 12
  end
  return 365 * y + math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400) + math.floor((153 * m - 457) / 5) + d - 719469
end

-- The readers make a value of Wireshark from a JSON value, by kind of field. They return
-- nil for what is no value of the kind, such as "412 more" in place of elements.
local readers = {
  text = unescape,
  none = function() end,
  u64 = u64,
  x64 = u64,
  f64 = u64,
  s64 = function(text) return match(text, "^-?%d+$") and Int64(text) or nil end,
  o32 = function(text) return tonumber(text, 8) end,
  time = function(text)
    local y, m, d, h, min, s, ns = match(text, "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)%.(%d+)Z$")
    if y then
      return NSTime(days(tonumber(y), tonumber(m), tonumber(d)) * 86400 + h * 3600 + min * 60 + s, tonumber(ns))
    end
    local n = tonumber(text)
    return n and NSTime(n, 0)
  end,
  duration = function(text)
    local sign, s, ns = match(text, "^(-?)(%d+)%.(%d+)$")
    if s then
      sign = sign == "-" and -1 or 1
      return NSTime(sign * tonumber(s), sign * tonumber(ns))
    end
  end,
}
for name, f in pairs(by_name) do
  local read = readers[f.kind] or function(text) return tonumber(text) end
  if f.group and not f.bits and f.kind ~= "e32" then
    local numbers = f.group.number
    f.read = function(text) return read(numbers[text] or text) end
  else
    f.read = read
  end
end
-- These two are packets of this file, see link.
by_name.request_frame.read, by_name.reply_frame.read = readers.none, readers.none

local text, tvb, visible -- of the packet

local function wanted(tree, field)
  return visible or tree:referenced(field)
end

local function range(pos, after)
  return tvb(pos - 1, after - pos)
end

-- after_text returns the position behind the text that begins with the quote at pos.
local function after_text(pos)
  repeat
    pos = find(text, '["\\]', pos + 1)
    local c = byte(text, pos)
    pos = pos + 1
  until c == QUOTE
  return pos
end

-- flags adds the word of flags that has the list of names at pos, and each of them.
local function flags(tree, f, pos)
  local after = find(text, "]", pos, true) + 1
  local inner, names = tree, sub(text, pos, after)
  if wanted(tree, f.field) then
    local read = f.wide and u64 or tonumber
    local word = read("0")
    for name in names:gmatch('"([^"]+)"') do
      word = word + (read(f.group.number[name] or name) or 0)
    end
    inner = tree:add(f.field, range(pos, after), word)
  end
  for name in names:gmatch('"([^"]+)"') do
    local bit = f.bits[name]
    if bit and wanted(tree, bit) then
      inner:add(bit, range(pos, after), 1)
    end
  end
  return after
end

local object

-- value adds what is at pos, and returns the position behind it. Paths of members in it
-- begin with prefix.
local function value(tree, f, prefix, pos)
  local c = byte(text, pos)
  if c == OBJECT then
    if f and f.kind == "none" and wanted(tree, f.field) then
      tree = tree:add(f.field, range(pos, pos + 1))
      local after = object(tree, prefix, pos)
      tree:set_len(after - pos)
      return after
    end
    return object(tree, prefix, pos)
  elseif c == LIST and f and f.bits and byte(text, pos + 1) ~= LIST then
    return flags(tree, f, pos)
  elseif c == LIST then
    pos = pos + 1
    while byte(text, pos) ~= END_LIST do
      pos = value(tree, f, prefix, pos)
      if byte(text, pos) ~= END_LIST then -- a comma
        pos = pos + 1
      end
    end
    return pos + 1
  end
  local after, written
  if c == QUOTE then
    after = after_text(pos)
    written = sub(text, pos + 1, after - 2)
  else
    after = find(text, "[,%]}]", pos)
    written = sub(text, pos, after - 1)
  end
  if f and wanted(tree, f.field) then
    local v = f.read(written)
    if v ~= nil then
      tree:add(f.field, range(pos, after), v)
    end
  end
  local fid = by_name.fid
  if c == QUOTE and byte(written) == LIST and f ~= fid and match(written, "^%[0x%x+:0x%x+:0x%x+%]$") and
    written ~= "[0x0:0x0:0x0]" and wanted(tree, fid.field) then
    tree:add(fid.field, range(pos, after), written).hidden = true
  end
  return after
end

-- object adds the members of the object at pos, and returns the position behind it.
function object(tree, prefix, pos)
  while byte(text, pos) ~= END_OBJECT and byte(text, pos + 1) ~= END_OBJECT do
    local after = after_text(pos + 1)
    local name = sub(text, pos + 2, after - 2)
    name = match(name, "([%w_]+)[%[%]%d]*$") or name -- of members that were moved up: a.b[0].c
    local path = prefix .. name
    pos = value(tree, by_name[path] or by_name[name], objects[path] or wire, after + 1)
  end
  return byte(text, pos) == END_OBJECT and pos + 1 or pos + 2
end

local own -- dissector of proto

-- referenced adds the members that filters, columns, graphs and so on need, without
-- structure, which is for packet details. It takes a third of the time of object.
local function referenced(tree, pos)
  if not tree:referenced(own) then -- nothing needs a field of proto
    return
  end
  for _, field in ipairs(nested) do
    if tree:referenced(field) then
      object(tree, "", pos)
      return
    end
  end
  while true do
    local _, last, name = find(text, '"([^"\\]+)":', pos) -- of a member: quotes in texts follow a backslash
    if not last then
      return
    end
    pos = last + 1
    local f = by_name[name] or by_name[match(name, "([%w_]+)[%[%]%d]*$")]
    if f then
      local c = byte(text, pos)
      if objects[name] or c ~= OBJECT and (f.bits or tree:referenced(f.field)) then
        pos = value(tree, f, objects[name] or wire, pos)
      elseif c == OBJECT and tree:referenced(f.field) then
        tree:add(f.field, range(pos, pos + 1))
      end
    end
  end
end

-- member returns what pattern matches behind the first member with a name.
local function member(name, pattern, pos)
  local _, last = find(text, '"' .. name .. '":', pos, true)
  return last and match(text, pattern, last + 1)
end

-- Packets by the number of their frame in the capture and the xid, and by the frame alone (a
-- list, where a frame has several); of requests the packets of their replies; packets with
-- errors; and findings by packets that prove them.
local packets, frames, replies, errors, proofs
local function forget()
  packets, frames, replies, errors, proofs = {}, {}, {}, {}, {}
end
forget()
proto.init = forget -- called for each file

-- frame_key names a frame among those of several files.
local function frame_key(file, frame)
  return file and file ~= "" and file .. ":" .. frame or tonumber(frame)
end

-- link adds the packets of the request and of the reply. That of a reply behind its
-- request is known when all packets have been read once.
local function link(tree, pinfo, pos)
  if not pinfo.visited then
    local key = frame_key(match(text, '^{"file":"([^"]*)"', pos), member("frame", "^%d+", pos))
    local others = frames[key]
    if others then
      others = type(others) == "table" and others or { others }
      others[#others + 1] = pinfo.number
    end
    frames[key] = others or pinfo.number
    errors[pinfo.number] = member("error", '^"', pos) and true
  end
  local xid = member("xid", '^"(%d+)', pos)
  if not xid then
    return
  end
  local kind, number = member("kind", '^"(%a+)', pos), pinfo.number
  local function packet_of(name)
    local frame = member(name, "^%d+", pos)
    return frame and packets[frame .. "/" .. xid]
  end
  local request, reply = packet_of("request_frame"), packet_of("reply_frame")
  if kind == "request" or kind == "reply" then
    packets[member("frame", "^%d+", pos) .. "/" .. xid] = number
  end
  if kind == "request" then
    reply = replies[number]
  elseif kind == "reply" and request and not replies[request] then
    replies[request] = number
  end
  for name, packet in pairs({ request_frame = request, reply_frame = reply }) do
    local field = by_name[name].field
    if wanted(tree, field) then
      tree:add(field, packet):set_generated()
    end
  end
end

local function add_experts(tree, pos)
  local code = member("kind", '^"reply"', pos) and member("error", '^"([^"]+)', pos)
  if code then
    tree:add_proto_expert_info(failed, code)
  end
  local at = find(text, ',"notes":[', pos, true)
  if at then
    for note, sentence in sub(text, at):gmatch('"code":"([^"]+)","text":"(.-[^\\])"') do
      tree:add_proto_expert_info(experts[note] or experts.unknown, note .. ": " .. unescape(sentence))
    end
  end
end

-- add_finding adds a finding, and links with the packets that prove it. These show it, too,
-- when they are dissected again.
local function add_finding(tree, number, pos)
  local severity = member("severity", '^"(%a+)', pos)
  local line = member("code", '^"([^"]+)', pos) .. ": " .. unescape(match(text, '"text":"(.-[^\\])"', pos) or "")
  if wanted(tree, finding) then
    tree:add(finding, range(pos, #text + 1), line)
  end
  object(tree, "finding.", pos)
  local function link_proof(packet)
    proofs[packet] = proofs[packet] or {}
    proofs[packet][number] = { severity, line }
    if wanted(tree, evidence) then
      tree:add(evidence, packet):set_generated()
    end
  end
  local function proof(file, frame)
    local found = frames[frame_key(file, frame)]
    local list, failures = type(found) == "table" and found or { found }, {}
    for _, packet in ipairs(list) do
      failures[#failures + 1] = errors[packet] and packet or nil
    end
    for _, packet in ipairs(#failures > 0 and failures or list) do
      link_proof(packet)
    end
  end
  for frame in sub(text, pos):gmatch('{"frame":(%d+)') do
    proof(nil, frame)
  end
  for file, frame in sub(text, pos):gmatch('{"file":"([^"]*)","frame":(%d+)') do
    proof(file, frame)
  end
  tree:add_proto_expert_info(findings[severity] or findings.note, line)
end

local json = "\0\12\0\4json" -- the first tag of the header of a message

local function dissect(buffer, pinfo, tree)
  if buffer:len() < 12 or buffer:raw(0, 8) ~= json then
    return
  end
  tvb, text, visible = buffer, buffer:raw(), tree.visible
  local pos, lustre = 1, false
  while true do
    local high, tag, b1, b2 = byte(text, pos, pos + 3)
    if not b2 then
      return
    end
    lustre = lustre or high == 0 and tag == 33 and sub(text, pos + 4, pos + 9) == "Lustre"
    pos = pos + 4 + b1 * 256 + b2
    if high == 0 and tag == 0 then
      break
    end
  end
  if not lustre or byte(text, pos) ~= OBJECT then
    return
  end
  local top = tree:add(proto, range(pos, #text + 1))
  if sub(text, pos, pos + 8) == '{"code":"' then
    top:set_text("Lustre finding")
    add_finding(top, pinfo.number, pos)
    return
  end
  link(top, pinfo, pos)
  for _, f in pairs(proofs[pinfo.number] or {}) do
    top:add_proto_expert_info(findings[f[1]] or findings.note, f[2])
  end
  if visible then
    object(top, "", pos)
  else
    referenced(top, pos)
  end
  add_experts(top, pos)
end

-- The tree is above that of the JSON: Wireshark's dissector of these packets is called after this one.
local encapsulations, upper_pdu = DissectorTable.get("wtap_encap"), (wtap_encaps or wtap).WIRESHARK_UPPER_PDU
local exported = encapsulations:get_dissector(upper_pdu)

function proto.dissector(buffer, pinfo, tree)
  local ok, err = pcall(dissect, buffer, pinfo, tree)
  local length = exported:call(buffer, pinfo, tree)
  if not ok then
    error(err)
  end
  return length
end

own = Dissector.get("lshark")
encapsulations:add(upper_pdu, proto)
