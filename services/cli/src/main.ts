#!/usr/bin/env node
// The process of the `strata` command.
import { runCli } from './run-cli.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `strata … | head` closes the pipe, which is not a failure.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCli(process.argv.slice(2), process);
