// Runs the service from the environment; `npm start` comes here by way of the command line.
import { createLogger } from '@strata/http';
import { readConfig } from './config.ts';
import { serve } from './serve.ts';

const config = readConfig(process.env);
await serve(config, createLogger({ level: config.logLevel }));
