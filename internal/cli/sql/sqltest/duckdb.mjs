// The flags of DuckDB's shell that lshark uses, over DuckDB's package for Node: for tests where the shell is
// not installed.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
let mode = 'duckbox';
let separator = ',';
const commands = [];
const args = process.argv.slice(2);
while (args.length > 0) {
  const arg = args.shift();
  switch (arg) {
    case '-bail': break;
    case '-cmd': case '-c': commands.push(args.shift()); break;
    case '-separator': separator = args.shift(); break;
    case '-csv': case '-table': case '-json': case '-jsonlines': mode = arg.slice(1); break;
    default: throw new Error(`the stand-in for DuckDB does not know ${arg}`);
  }
}

// show prints the rows of the table result.
async function show() {
  if (mode.startsWith('json')) {
    const rows = (await connection.runAndReadAll('select to_json(result)::varchar as line from result')).getRows();
    const lines = rows.map(([line]) => line);
    console.log(mode === 'json' ? `[${lines.join(',\n')}]` : lines.join('\n'));
    return;
  }
  const reader = await connection.runAndReadAll('select columns(*)::varchar from result');
  const names = reader.deduplicatedColumnNames();
  const rows = reader.getRows().map((row) => row.map((value) => value ?? 'NULL'));
  if (mode === 'csv') {
    const quote = (text) => (/[",'\n\r\x7f-\uffff]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    for (const row of [names, ...rows]) console.log(row.map(quote).join(separator));
    return;
  }
  const widths = names.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  const line = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`;
  const center = (text, width) => {
    const left = Math.floor((width - text.length) / 2);
    return ' '.repeat(left) + text + ' '.repeat(width - text.length - left);
  };
  console.log(line);
  console.log(`| ${names.map((name, i) => center(name, widths[i])).join(' | ')} |`);
  console.log(line);
  for (const row of rows) console.log(`| ${row.map((value, i) => value.padEnd(widths[i])).join(' | ')} |`);
  console.log(line);
}

try {
  for (const command of commands) {
    const read = command.match(/^\.read "(.*)"$/s);
    if (read) {
      await connection.run(readFileSync(read[1].replace(/\\(.)/g, '$1'), 'utf8'));
    } else if (!command.startsWith('.')) {
      await connection.run(`create or replace temp table result as ${command.replace(/;\s*$/, '')}`);
      await show();
    }
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
