#!/usr/bin/env node
// The `strata` command as a process of its own; run-cli.ts is the command.
import { runCli } from './run-cli.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `strata … | head` closes the pipe: that is no failure.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), process);
