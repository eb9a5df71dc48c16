"""Issue trackers: GitHub, GitLab, Gitea and Jira by their REST APIs, and CSV files that they import."""
