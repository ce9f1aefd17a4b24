// The OpenAPI document as a public linter sees it: fetched from a running server, so that its references to the schemas
// of envelopes are followed there, too.
//
//     node tests/openapi/lint.mjs URL
//
// Prints each problem and "N passed, N failed", by operation.
import { createConfig, lint } from '@redocly/openapi-core';

const url = `${process.argv[2]}/openapi.json`;
const config = await createConfig({ extends: ['recommended-strict'] });
const problems = await lint({ ref: url, config });
for (const problem of problems)
	console.log(`${problem.ruleId}: ${problem.message} (${problem.location[0]?.pointer ?? url})`);

const document = await (await fetch(url)).json();
const operations = Object.values(document.paths).flatMap(Object.keys).length;
console.log(`${Math.max(operations - problems.length, 0)} passed, ${problems.length} failed`);
process.exitCode = problems.length === 0 ? 0 : 1;
