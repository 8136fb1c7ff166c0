"""The life of an incident: opened, held, ended. Pure: findings in, changes out."""
