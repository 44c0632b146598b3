/**
 * Settings that decide which program a check runs. In a repository a persona may not create them either: a new
 * `.npmrc` can replace the shell of `npm test`.
 */
export const runnerSettings: readonly string[] = [
  "**/vitest.config.*",
  "**/vitest.workspace.*",
  "**/jest.config.*",
  "**/.mocharc*",
  "**/karma.conf.*",
  "**/playwright.config.*",
  "**/cypress.config.*",
  "**/pytest.ini",
  "**/conftest.py",
  "**/tox.ini",
  "**/noxfile.py",
  "**/setup.cfg",
  "**/pyproject.toml",
  "**/Makefile",
  "**/makefile",
  "**/GNUmakefile",
  "**/.npmrc",
  "**/.yarnrc",
  "**/.yarnrc.yml",
  "**/.pnpmfile.cjs",
  "**/.cargo/config.toml",
  "**/.mvn/**",
];

/** Files that judge the work or decide which packages are installed. A team's own `protect` replaces the list. */
export const defaultProtect: readonly string[] = [
  // Tests.
  "**/test/**",
  "**/tests/**",
  "**/__tests__/**",
  "**/*.test.*",
  "**/*.spec.*",
  "**/*_test.*",
  "**/*_spec.*",
  "**/test_*.py",
  "**/*Tests.cs",
  "**/*Test.java",
  "**/*Test.kt",
  // Expected results.
  "**/__snapshots__/**",
  "**/*.snap",
  // Settings of test runners, and of the programs that start them.
  ...runnerSettings,
  "**/package.json#jest",
  "**/package.json#mocha",
  "**/package.json#vitest",
  "**/package.json#ava",
  "**/package.json#tap",
  "**/package.json#c8",
  "**/package.json#nyc",
  // The commands behind `npm test`, `make test` and similar.
  "**/package.json#scripts",
  // Continuous integration.
  ".github/workflows/**",
  ".gitlab-ci.yml",
  ".circleci/**",
  ".buildkite/**",
  ".travis.yml",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "Jenkinsfile",
  // Lockfiles.
  "**/package-lock.json",
  "**/npm-shrinkwrap.json",
  "**/yarn.lock",
  "**/pnpm-lock.yaml",
  "**/bun.lock",
  "**/bun.lockb",
  "**/deno.lock",
  "**/Cargo.lock",
  "**/poetry.lock",
  "**/uv.lock",
  "**/pdm.lock",
  "**/Pipfile.lock",
  "**/Gemfile.lock",
  "**/composer.lock",
  "**/mix.lock",
  "**/go.sum",
];
